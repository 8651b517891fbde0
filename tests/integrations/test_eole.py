"""eole, for real: train with our transforms, predict with a stock eole, and its own beside ours."""

from __future__ import annotations

import copy
import json
import re
import time
from collections import Counter

import eole_runs
import numpy as np
import pytest
import scipy.stats

import switchout.integrations.eole  # first: registers
import toy_tokenizers as toys
from switchout.integrations import eole_transforms as ours

from eole.config.run import TrainConfig  # isort: skip
from eole.inputters.inputter import build_vocab  # isort: skip
from eole.transforms import get_transforms_cls, make_transforms  # isort: skip
from eole.transforms.sampling import SwitchOutTransform  # isort: skip

import switchout as so
from examples import run_example

EXACT = {"tau_x": 1.0, "tau_y": 0.9}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("eole")
    eole_runs.prepare(folder)
    return folder


def with_transform(folder, name, settings):
    made = eole_runs.config(folder, "model", transforms=["sentencepiece", name])
    configs = {"sentencepiece": made["transforms_configs"]["sentencepiece"], name: settings}
    return TrainConfig(**{**made, "transforms_configs": configs})


def made(folder, name="switchout_exact", settings=EXACT):
    """eole's own objects: its transforms and its vocabularies."""
    config = with_transform(folder, name, settings)
    vocabs = build_vocab(config, {"src": [], "tgt": []})
    return make_transforms(config, get_transforms_cls(["sentencepiece", name]), vocabs), vocabs


def raw(n=eole_runs.N, corpus="corpus_1"):
    german, english = toys.text(eole_runs.N + 40)
    return [
        ({"src": a, "tgt": b, "cid": corpus, "cid_line_number": i}, None, corpus)
        for i, (a, b) in enumerate(zip(german[:n], english[:n], strict=True))
    ]


def losses(log):
    return [float(x) for x in re.findall(r"ppl:\s*([\d.]+)", log)]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(
    ("name", "settings"),
    [("switchout", {"switchout_temperature": 1.0}), ("switchout_exact", EXACT),
     ("raml_exact", {"rate": 0.1}), ("dropout_exact", {"rate_x": 0.1})],
)  # fmt: skip
def test_train_then_a_stock_eole_predicts(folder, name, settings, workers):
    run = f"{name}-{workers}"
    config = eole_runs.config(folder, run, transforms=["sentencepiece", name])
    config["transforms_configs"] = {
        "sentencepiece": config["transforms_configs"]["sentencepiece"], name: settings,
    }  # fmt: skip
    config["training"]["num_workers"] = workers
    result = eole_runs.run("train", "-c", eole_runs.written(folder, run, config))
    assert result.returncode == 0, result.stderr
    log = result.stdout + result.stderr
    assert losses(log)
    assert np.isfinite(losses(log)).all()
    if not workers:  # eole does not print what its workers report at the end of a corpus
        changed, total = map(int, re.search(r"changed=(\d+), total=(\d+)", log).groups())
        assert 0 < changed < total / 2
    saved = json.loads((folder / run / "config.json").read_text())
    assert not set(ours.OURS) & {*saved["transforms"], *saved["transforms_configs"]}
    source, output = folder / "dev.de", folder / f"{run}.out"
    result = eole_runs.run(
        "predict", "-model_path", str(folder / run), "-src", str(source), "-output", str(output),
        "-beam_size", "1", "-max_length", "20", ours=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert len(output.read_text("utf-8").splitlines()) == 40


def test_every_sentence_is_at_its_address_and_a_falling_line_number_begins_an_epoch(folder):
    transforms, vocabs = made(folder)
    tokenise, switch = transforms["sentencepiece"], transforms["switchout_exact"]
    clean = tokenise.batch_apply(raw(), is_train=True)
    words = {side: so.Words(len(v.ids_to_tokens), pieces.special) for side, v, pieces in (
        (side, vocabs[side], switch._pieces(side)) for side in ("src", "tgt"))}  # fmt: skip
    policies = {"src": so.SwitchOut(words["src"], tau=1.0), "tgt": so.RAML(words["tgt"], tau=0.9)}
    for epoch in range(3):
        parts = [clean[:150], clean[150:]]
        new = [e for part in parts for e, _, _ in
               switch.batch_apply(copy.deepcopy(part), is_train=True)]  # fmt: skip
        for side, policy in policies.items():
            ids, names = vocabs[side].tokens_to_ids, vocabs[side].ids_to_tokens
            rows = [[ids.get(token, -1) for token in e[side]] for e, _, _ in clean]
            examples = [int(i) for i in switch._addresses([e for e, _, _ in clean])[0]]
            switch._last_line["corpus_1"] = len(clean) - 1  # as before the look
            switch._epochs["corpus_1"] = epoch
            want = policy.sample_lists(rows, seed=7, example_ids=examples, epoch=epoch)
            for example, (old, _, _), row in zip(new, clean, want, strict=True):
                kept = zip(old[side], row, strict=True)
                assert example[side] == [t if i == -1 else names[i] for t, i in kept]


def test_a_training_that_goes_on_has_fresh_noise(folder):
    """eole reads its corpora from the first line again: the first epoch's noise would come back."""
    config = eole_runs.config(folder, "first", transforms=["sentencepiece", "switchout"])
    config["training"] |= {"train_steps": 20, "valid_steps": 20, "save_checkpoint_steps": 10}
    result = eole_runs.run("train", "-c", eole_runs.written(folder, "first", config))
    assert result.returncode == 0, result.stderr
    assert "with fresh noise" not in result.stdout + result.stderr
    seen = []
    for step, saved in ((0, None), (10, "first/step_10"), (20, "first")):
        settings = eole_runs.config(folder, "second", transforms=["sentencepiece", "switchout"])
        settings["training"] |= {"train_steps": 30, "valid_steps": 30, "save_checkpoint_steps": 30}
        if saved:
            settings["training"]["train_from"] = str(folder / saved)
        config = TrainConfig(**settings)
        vocabs = build_vocab(config, {"src": [], "tgt": []})
        classes = get_transforms_cls(["sentencepiece", "switchout"])
        transforms = make_transforms(config, classes, vocabs)
        assert transforms["switchout"]._seed == 7 + (step << 32)
        batch = transforms["sentencepiece"].batch_apply(raw(), is_train=True)
        seen.append([e["src"] for e, _, _ in transforms["switchout"].batch_apply(batch, True)])
    assert seen[0] != seen[1] != seen[2] != seen[0]
    result = eole_runs.run("train", "-c", eole_runs.written(folder, "second", settings))
    assert result.returncode == 0, result.stderr
    assert "switchout: goes on from step 20, with fresh noise" in result.stdout + result.stderr


def test_validation_is_left_alone(folder):
    transforms, _ = made(folder)
    clean = transforms["sentencepiece"].batch_apply(raw(), is_train=False)
    after = transforms["switchout_exact"].batch_apply(copy.deepcopy(clean), is_train=False)
    assert [e for e, _, _ in after] == [e for e, _, _ in clean]


def test_side_by_side_with_eoles_own(folder, capsys):
    """The same corpus through eole's own transform: pairs/s, specials drawn, the law."""
    transforms, vocabs = made(folder, "switchout", {"switchout_temperature": 1.0})
    own = SwitchOutTransform(with_transform(folder, "switchout", {"switchout_temperature": 1.0}))
    own.warm_up(vocabs)
    exact = transforms["switchout"]
    clean = transforms["sentencepiece"].batch_apply(
        [example for _ in range(10) for example in raw()], is_train=True
    )
    specials = {*vocabs["specials"].values()} | {
        t for side in ("src", "tgt") for t in vocabs[side].ids_to_tokens if "averyunlikely" in t
    }
    facts = {}
    for name, transform in (("own", own), ("exact", exact)):
        seconds, given, sides = [], 0, 0
        for _ in range(3):
            batch = copy.deepcopy(clean)
            start = time.process_time()
            new = transform.batch_apply(batch, is_train=True)
            seconds.append(time.process_time() - start)
            for (a, _, _), (b, _, _) in zip(clean, new, strict=True):
                for side in ("src", "tgt"):
                    pairs = zip(a[side], b[side], strict=True)
                    sides += 1
                    given += any(x != y and y in specials for x, y in pairs)
        facts[name] = (len(clean) / min(seconds), given / sides)
    with capsys.disabled():
        for name, (speed, share) in facts.items():
            print(f"\neole {name}: {speed:,.0f} pairs/s, {share:.5f} of sides given a special")
    assert facts["exact"][0] > 5 * facts["own"][0]
    assert facts["exact"][1] == 0 < facts["own"][1]


def sentence(n, side_tokens):
    return [
        ({"src": list(side_tokens), "tgt": list(side_tokens), "cid": "c", "cid_line_number": i},
         None, "c") for i in range(n)
    ]  # fmt: skip


def test_the_number_of_changed_words_follows_algorithm_1_and_eoles_own_does_not(folder):
    transforms, vocabs = made(folder, "switchout", {"switchout_temperature": 1.0})
    own = SwitchOutTransform(with_transform(folder, "switchout", {"switchout_temperature": 1.0}))
    own.warm_up(vocabs)
    tokens = [t for t in vocabs["src"].ids_to_tokens if t in vocabs["tgt"].tokens_to_ids][8:14]
    n = 20_000
    words = so.Words(len(vocabs["src"].ids_to_tokens))
    expected = so.SwitchOut(words, tau=1.0).change_probabilities(len(tokens)) * n
    fits = {}
    for name, transform in (("own", own), ("exact", transforms["switchout"])):
        new = transform.batch_apply(sentence(n, tokens), is_train=True)
        counts = Counter(sum(a != b for a, b in zip(tokens, e["src"], strict=True))
                         for e, _, _ in new)  # fmt: skip
        observed = [counts[k] for k in range(len(tokens) + 1)]
        fits[name] = scipy.stats.chisquare(observed, expected).pvalue
    assert fits["exact"] > 0.001
    assert fits["own"] < 1e-9
    one = transforms["switchout"].batch_apply(sentence(2000, tokens[:1]), is_train=True)
    share = np.mean([e["src"] != tokens[:1] for e, _, _ in one])
    assert 0.22 < share < 0.32  # e^-1 / (1 + e^-1); eole's own never changes them


def test_an_empty_source_and_no_target(folder):
    transforms, _ = made(folder)
    batch = [
        ({"src": [], "tgt": ["▁the"], "cid": "c", "cid_line_number": 0}, None, "c"),
        ({"src": ["▁der"], "tgt": None, "cid": "c", "cid_line_number": 1}, None, "c"),
        ({"src": "▁der ▁Hund", "tgt": "▁the", "cid": "c", "cid_line_number": 2}, None, "c"),
    ]
    new = [e for e, _, _ in transforms["switchout_exact"].batch_apply(batch, is_train=True)]
    assert new[0]["src"] == []
    assert new[1]["tgt"] is None
    assert len(new[2]["src"]) == 2
    alone = transforms["switchout_exact"].apply({"src": ["▁der"], "tgt": None}, is_train=True)
    assert len(alone["src"]) == 1


def test_ids_of_huggingface_tokenize_change_too_and_language_codes_do_not(folder):
    tokenizer = toys.bpe(["<s>", "<blank>", "</s>", "<unk>"])
    tokenizer.add_special_tokens(["deu_Latn", "eng_Latn"])
    tokenizer.save(str(folder / "tokenizer.json"))
    names = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().get)
    (folder / "vocab.hf").write_text("\n".join(names) + "\n", "utf-8")
    config = eole_runs.config(
        folder, "hf", transforms=["huggingface_tokenize", "switchout_exact"],
        src_vocab=str(folder / "vocab.hf"), tgt_vocab=str(folder / "vocab.hf"), share_vocab=True,
    )  # fmt: skip
    config["transforms_configs"] = {
        "huggingface_tokenize": {"path": str(folder / "tokenizer.json")},
        "switchout_exact": EXACT,
    }
    config = TrainConfig(**config)
    vocabs = build_vocab(config, {"src": [], "tgt": []})
    classes = get_transforms_cls(["huggingface_tokenize", "switchout_exact"])
    transforms = make_transforms(config, classes, vocabs)
    batch = raw()
    for example, _, _ in batch:
        example["src"] = "deu_Latn" + example["src"]
    clean = transforms["huggingface_tokenize"].batch_apply(batch, is_train=True)
    new = transforms["switchout_exact"].batch_apply(copy.deepcopy(clean), is_train=True)
    code = tokenizer.token_to_id("deu_Latn")
    changed = 0
    for (a, _, _), (b, _, _) in zip(clean, new, strict=True):
        assert b["src"] == [tokenizer.id_to_token(i) for i in b["src_ids"]]
        assert b["src_ids"][0] == code
        assert code not in b["src_ids"][1:] + b["tgt_ids"]
        changed += a["src_ids"] != b["src_ids"]
    assert 0.18 < changed / len(new) < 0.4  # 0.28 of sentences of ten words


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("switchout_exact", {}, "switchout_exact has no temperature and no rate"),
        ("switchout_exact", {"tau_x": -1.0}, "switchout_exact: tau"),
        ("switchout_exact", {"tau_x": 1.0, "rate_x": 0.1}, "either tau or rate"),
        ("dropout_exact", {"rate_x": 0.1, "null": "<nil>"}, "vocabulary has no '<nil>'"),
    ],
)
def test_a_mistake_in_the_yaml_is_one_line(folder, name, settings, message):
    config = eole_runs.config(folder, "bad", transforms=["sentencepiece", name])
    config["transforms_configs"] = {
        "sentencepiece": config["transforms_configs"]["sentencepiece"], name: settings,
    }  # fmt: skip
    result = eole_runs.run("train", "-c", eole_runs.written(folder, "bad", config))
    assert result.returncode == 2
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("switchout: ")
    assert message in last
    assert "Traceback" not in result.stderr


def test_the_example_runs(tmp_path):
    assert "10 lines translated" in run_example("eole_train.py", tmp_path)
