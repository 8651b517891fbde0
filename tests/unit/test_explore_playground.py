"""The playground tells the truth: its samples are the library's, its laws are the closed ones."""

from __future__ import annotations

import gzip
import inspect
import math
import shlex
import tomllib
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

import switchout as so
from switchout.cli import run as command
from switchout.corpora.codec import Codec
from switchout.explore import snippets
from switchout.explore.corpus_lines import embedded_lines, file_lines
from switchout.explore.playground import N_DRAWS, play, policy_of
from switchout.explore.question import PlayQuestion, SideQuestion
from switchout.explore.site import Site
from switchout.explore.snippets import command_line, python, toml
from switchout.explore.vocabularies import parse_vocabulary
from switchout.runs.config import Config
from switchout.text.preview import preview

LINE = "a b c d e f"
CODEC = Codec.word(["a b c d e f g h i j"])
POLICIES = [
    ("switchout", {"tau": 0.7}),
    ("switchout", {"by": "rate", "rate": 0.3}),
    ("raml", {"tau": 2.0}),
    ("hamming", {"tau": 0.4}),
    ("hamming", {"by": "rate", "rate": 0.3}),
    ("word_dropout", {"tau": 0.7}),
    ("word_dropout", {"by": "rate", "rate": 0.8}),
]


def asked(policy: str, line: str = LINE, **strength: object) -> SideQuestion:
    return SideQuestion.model_validate({"line": line, "policy": policy, **strength})


def answer(question: SideQuestion, *, seed: int = 3, side: str = "source", n: int = 12):
    return play(question, CODEC, side=side, seed=seed, n_samples=n)


def texts(found) -> list[str]:
    return [" ".join(word.text for word in sample.words) for sample in found.samples]


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("tau", [0.0, 0.5, 1.0, 3.0])
def test_samples_are_those_of_switch_out(tau, side):
    ids = np.array([CODEC.encode(LINE)] * 12)
    drawn = so.switch_out(
        ids, tau=tau, words=CODEC.vocabulary.words(), seed=3, example_ids=range(12), side=side
    )
    expected = [CODEC.decode(row) for row in drawn.tolist()]
    assert texts(answer(asked("switchout", tau=tau), side=side)) == expected


def test_the_seed_decides_the_samples():
    question = asked("switchout", tau=3.0)
    assert answer(question) == answer(question)
    assert texts(answer(question)) != texts(answer(question, seed=4))


def test_changed_words_say_what_they_were():
    for sample in answer(asked("switchout", tau=3.0), n=50).samples:
        back = [word.text if word.was is None else word.was for word in sample.words]
        assert back == LINE.split()
        assert all(word.text != word.was for word in sample.words)
        assert sample.n_changed == sum(word.was is not None for word in sample.words)


@pytest.mark.parametrize(("policy", "strength"), POLICIES)
def test_probabilities_are_those_of_all_sentences(policy, strength):
    """The probabilities of all that can be drawn from a short line add up to one."""
    codec = Codec.word(["a b c"])
    seen: dict[str, float] = {}
    for seed in range(3):
        question = asked(policy, "a b", **strength)
        found = play(question, codec, side="source", seed=seed, n_samples=N_DRAWS)
        for sample, text in zip(found.samples, texts(found), strict=True):
            seen[text] = math.exp(sample.log_probability)
    words = ["a", "b", "c", "∅"] if policy == "word_dropout" else ["a", "b", "c"]
    assert set(seen) <= {" ".join(pair) for pair in product(words, repeat=2)}
    assert sum(seen.values()) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(("policy", "strength"), POLICIES)
def test_the_exact_law_is_the_law_of_the_draws(policy, strength):
    found = answer(asked(policy, **strength), n=N_DRAWS)
    counts = Counter(sample.n_changed for sample in found.samples)
    assert found.law is not None
    assert sum(found.law.exact) == pytest.approx(1)
    for label, exact, sampled in zip(
        found.law.labels, found.law.exact, found.law.sampled, strict=True
    ):
        assert sampled == counts[int(label)] / N_DRAWS
        spread = math.sqrt(exact * (1 - exact) / N_DRAWS)
        assert abs(sampled - exact) <= 5 * spread + 1e-12
    mean = sum(int(n) * p for n, p in zip(found.law.labels, found.law.exact, strict=True))
    assert found.expected_changes == pytest.approx(mean)
    assert found.untouched == pytest.approx(found.law.exact[0])


def test_a_long_sentence_has_its_rest_in_one_bin():
    found = answer(asked("switchout", "a b c d e f g h i j " * 5, tau=4.0))
    assert found.law is not None
    assert found.law.labels[-1] == "13+"
    assert found.n_words == 50
    for law in (found.law.exact, found.law.sampled, found.law.maxent):
        assert sum(law) == pytest.approx(1)


@pytest.mark.parametrize("tau", [0.3, 1.0, 5.0])
def test_exact_max_ent_has_the_greatest_objective(tau):
    rows = {row.name: row for row in answer(asked("switchout", tau=tau)).beside}
    best = rows.pop("exact max-ent")
    assert len(rows) == 3
    assert all(row.objective <= best.objective + 1e-12 for row in rows.values())
    policy = so.SwitchOut(CODEC.vocabulary.words(), tau=tau)
    assert rows["Algorithm 1"].objective == pytest.approx(float(policy.objective(6)))
    exact = so.Hamming(CODEC.vocabulary.words(), tau=tau)
    assert best.objective == pytest.approx(float(exact.objective(6)))
    assert best.entropy == pytest.approx(float(exact.entropy(6)))
    same = rows["max-ent, same changes"]
    assert same.expected_changes == pytest.approx(rows["Algorithm 1"].expected_changes)


def test_a_share_that_no_temperature_gives_has_no_objective():
    found = answer(asked("word_dropout", by="rate", rate=0.8))
    assert found.tau is None
    assert found.beside == []


def test_unknown_words_are_shown_as_typed_and_never_change():
    found = answer(asked("switchout", "a <script> b <unk> <s>", tau=100.0), n=50)
    assert found.unknown == ["<script>", "<unk>", "<s>"]
    assert found.n_words == 2
    for sample in found.samples:
        shown = [word.text for word in sample.words]
        assert [shown[i] for i in (1, 3, 4)] == ["<script>", "<unk>", "<s>"]
        assert not any(word.is_known for word in (sample.words[1], sample.words[3]))


@pytest.mark.parametrize("line", ["", "   ", "<unk> zzz"])
def test_a_line_without_known_words_stays_as_it_is(line):
    found = answer(asked("switchout", line, tau=1.0))
    assert found.n_words == 0
    assert found.law is None
    assert {sample.log_probability for sample in found.samples} == {0.0}


def test_a_side_without_policy_stays_as_it_is():
    found = answer(asked("none"))
    assert texts(found) == [LINE]
    assert (found.policy, found.untouched, found.law) == ("", 1.0, None)


def test_switchout_cannot_change_more_than_half():
    with pytest.raises(so.SwitchOutError, match="switchout"):
        answer(asked("switchout", by="rate", rate=0.9))


@pytest.mark.parametrize(
    "wrong",
    [
        {"src": "x " * 201},
        {"src": "x" * 4001},
        {"tau_x": -0.1},
        {"tau_x": 101},
        {"tau_x": "nan"},
        {"tau_x": "inf"},
        {"rate_y": 1.1},
        {"policy_x": "similar"},
        {"seed": -1},
        {"seed": 2**64},
        {"epoch": 2**32},
        {"n_samples": 51},
        {"vocab_x": "x" * 301},
        {"unheard_of": 1},
    ],
)
def test_too_much_is_refused(wrong):
    with pytest.raises(ValidationError):
        PlayQuestion.model_validate(wrong)


def test_200_words_are_taken():
    assert PlayQuestion(src=" ".join(["x"] * 200)).src.count(" ") == 199


WHITE = "a\tb  c\vd\fe\r f\u00a0g\u2028h\u0085i\u3000j\x1ck "


def test_words_are_those_of_augment(tmp_path):
    """Of the sentence that is asked about, and of the user's files."""
    path = tmp_path / "own.de"
    path.write_text((WHITE + "\n") * 2, newline="")
    (sample,) = preview(path, tau_x=1.0, seed=1, lines=1, epochs=1).samples
    expected = [word.was for word in sample.words]
    assert len(expected) == 6
    assert PlayQuestion(src=WHITE, tgt=WHITE).src.split(" ") == expected
    lines = file_lines(path, path)
    assert lines is not None
    assert Codec.word(lines.source).tokens(lines.source[0]) == expected
    assert lines.target == lines.source


# Snippets: what is pasted does the same


QUESTIONS = [
    PlayQuestion(src=LINE, tgt=LINE, tau_x=2.0, tau_y=1.5, seed=5),
    PlayQuestion(src=LINE, tgt=LINE, by_x="rate", rate_x=0.25, policy_y="none", seed=5),
    PlayQuestion(
        src=LINE, tgt=LINE, policy_x="hamming", tau_x=0.4, policy_y="hamming", by_y="rate"
    ),
    PlayQuestion(src=LINE, tgt=LINE, policy_x="word_dropout", policy_y="word_dropout", by_y="rate"),
]
names = pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: f"{q.policy_x}-{q.policy_y}")


def sides(question: PlayQuestion) -> list[list[str]]:
    sampled = [
        play(asked, CODEC, side=side, seed=question.seed, n_samples=12)
        for side, asked in (("source", question.source), ("target", question.target))
    ]
    return [texts(found) * (12 // len(found.samples)) for found in sampled]


@names
def test_pasted_python_gives_the_same_samples(question):
    ids = np.array([CODEC.encode(LINE)] * 12)
    size = len(CODEC.vocabulary)
    scope = {"x": ids, "y": ids.copy(), "ids": np.arange(12), "epoch": 0}
    exec(python(question, (size, size)), scope)
    tokens = ["∅", *CODEC.vocabulary.tokens[1:]]
    for name, expected in zip(("x_hat", "y_hat"), sides(question), strict=True):
        assert [" ".join(tokens[i] for i in row) for row in scope[name].tolist()] == expected


@names
def test_pasted_command_gives_the_same_lines(question, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for side in ("src", "tgt"):
        (tmp_path / f"train.{side}").write_text((LINE + "\n") * 12)
    CODEC.vocabulary.save(tmp_path / "vocab")
    pasted = command_line(question).replace("\\\n", "").split()
    pasted += ["--vocab-src", "vocab", "--vocab-tgt", "vocab", "--null-word", "∅"]
    assert command(pasted[1:]) == 0
    for side, expected in zip(("src", "tgt"), sides(question), strict=True):
        assert (tmp_path / f"augmented.{side}").read_text().splitlines() == expected


@pytest.mark.parametrize("question", QUESTIONS[:2], ids=lambda q: f"{q.policy_x}-{q.policy_y}")
@pytest.mark.parametrize("sides", [("src", "tgt"), ("src",), ("tgt",)], ids="-".join)
def test_pasted_command_names_the_corpus_that_is_open(question, sides, tmp_path, monkeypatch):
    """Quoted for a shell; the files themselves stay as they are."""
    monkeypatch.chdir(tmp_path)
    named = {"src": Path("it's mine", "train.de.gz"), "tgt": Path("-train $HOME.en")}
    files = tuple(named[side] if side in sides else None for side in ("src", "tgt"))
    named["src"].parent.mkdir()
    for side, opening in (("src", gzip.open), ("tgt", open)):
        if side in sides:
            with opening(named[side], "wt") as handle:
                handle.write((LINE + "\n") * 12)
    question = question.model_copy(update={"policy_x": "switchout", "policy_y": "raml"})
    given = Site(tmp_path / "runs", *files).snippets(
        question.model_copy(update=dict.fromkeys(("vocab_x", "vocab_y"), "embedded"))
    )["Command line"]
    assert "train.src" not in given
    before = {path: path.read_bytes() for path in named.values() if path.exists()}
    assert command(shlex.split(given.replace("\\\n", ""))[1:]) == 0
    assert {path: path.read_bytes() for path in before} == before
    made = {path.name for path in (*tmp_path.iterdir(), *named["src"].parent.iterdir())}
    assert {"augmented.train.de.gz", "augmented.-train $HOME.en"} & made == {
        f"augmented.{named[side].name}" for side in sides
    }


@names
def test_pasted_toml_is_a_training_configuration(question):
    config = Config.model_validate(
        {**tomllib.loads(toml(question)), "data": {"corpus": "phrasebook"}}
    )
    assert config.seed == question.seed
    for side, wanted in (
        (config.augment.source, question.source),
        (config.augment.target, question.target),
    ):
        assert side.policy == wanted.policy
        if wanted.policy != "none":
            assert {k: getattr(side, k) for k in wanted.strength} == wanted.strength


@names
def test_pasted_hugging_face_is_a_call_that_exists(question):
    """It passes what the drop-in takes, and policies like those of the playground."""
    huggingface = pytest.importorskip("switchout.integrations.huggingface")
    tokenizers = pytest.importorskip("tokenizers")
    ids = {token: id for id, token in enumerate(CODEC.vocabulary.tokens)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(ids, unk_token="<unk>"))
    seen: dict[str, object] = {}

    def call(*arguments: object, **named: object) -> None:
        seen.update(inspect.signature(huggingface.switch_out).bind(*arguments, **named).arguments)

    text = snippets.huggingface(question).replace(snippets.HF_IMPORT, "")
    exec(text, {"switch_out": call, "trainer": object(), "tokenizer": tokenizer})
    assert seen["seed"] == question.seed
    for letter, name, side in (("x", "source", question.source), ("y", "target", question.target)):
        key, value = next(iter(side.strength.items()))
        if side.policy == "none":
            assert {name, f"tau_{letter}", f"rate_{letter}"}.isdisjoint(seen)
        elif name in seen:
            policy = seen[name]
            assert policy.name == side.policy
            wanted = policy_of(side, policy.words)
            assert policy.expected_changes(6) == wanted.expected_changes(6)
        else:
            assert seen[f"{key}_{letter}"] == value


# Lines and vocabularies


def test_the_embedded_corpus_is_there():
    lines = embedded_lines()
    assert len(lines) == len(lines.source) == len(lines.target) == 3000
    assert lines.pair(1) == lines.pair(3001) == (lines.source[0], lines.target[0])


def test_one_side_of_a_file_is_enough(tmp_path):
    (tmp_path / "x.txt").write_text("one\ntwo\n")
    lines = file_lines(tmp_path / "x.txt", None)
    assert lines is not None
    assert lines.pair(2) == ("two", "")
    assert file_lines(None, None) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "vocabulary:1"),
        ("a\n\nb\n", "vocabulary:2"),
        ("a\nb\na\n", "vocabulary:3"),
        ("<unk>\n<s>\na\n", "two words"),
        ("\n".join(f"w{i}" for i in range(500_001)), "500,000"),
    ],
)
def test_a_wrong_vocabulary_is_refused_with_its_line(text, message):
    with pytest.raises(so.SwitchOutError, match=message):
        parse_vocabulary(text)
