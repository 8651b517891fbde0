"""Search against enumeration, and against itself in other batches and without its cache."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
import torch

from switchout.corpora.vocabulary import BOS, EOS
from switchout.errors import SwitchOutError
from switchout.nmt import search
from switchout.nmt.model import ModelSpec, Transformer
from switchout.nmt.search import Hypothesis, SearchOptions, default_limit, translate_ids

TINY = ModelSpec(
    src_size=9, tgt_size=6, layers=2, heads=3, d_head=4, d_model=8, d_inner=10, init=0.8
)
LARGER = replace(TINY, src_size=40, tgt_size=30)


def batch(seed: int, *, size: int, words: int, longest: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, longest + 1, (size,), generator=generator)
    lengths[0] = longest
    src = torch.randint(4, words, (size, longest), generator=generator)
    src[torch.arange(longest) >= lengths[:, None]] = 0
    src[torch.arange(size), lengths - 1] = EOS
    return src, lengths


def talker(seed: int) -> Transformer:
    """A random model that likes to end, sooner or later by the sentence."""
    model = Transformer(LARGER, seed=seed)
    with torch.no_grad():
        model.decoder_norm.bias.fill_(1.0)
        model.output.weight[EOS] += 1.0 / LARGER.d_model
    return model


def log_p(
    models: list[Transformer], src: torch.Tensor, sequences: list[list[int]]
) -> list[list[float]]:
    """Per-word log-probabilities of ids + EOS by the uncached training path, mean over models.

    The sequences are of one length, so nothing is padded.
    """
    tgt_in = torch.tensor([[BOS, *ids] for ids in sequences])
    labels = torch.tensor([[*ids, EOS] for ids in sequences])
    same, lengths = src.expand(len(sequences), -1), torch.full((len(sequences),), src.shape[1])
    with torch.no_grad():
        by_model = [m(same, lengths, tgt_in).log_softmax(-1) for m in models]
    mean = torch.stack(by_model).mean(dim=0)
    return mean.gather(2, labels[:, :, None])[:, :, 0].tolist()


def exhaustive(
    models: list[Transformer], src: torch.Tensor, *, limit: int, penalty: float
) -> list[Hypothesis]:
    """Every sequence of at most ``limit`` words, best first; the last EOS is free of choice."""
    words = [i for i in range(6) if i not in (0, BOS, EOS)]
    hypotheses = []
    for n in range(limit + 1):
        sequences = [list(ids) for ids in itertools.product(words, repeat=n)]
        for ids, by_word in zip(sequences, log_p(models, src, sequences), strict=True):
            hypotheses.append(Hypothesis(ids, sum(by_word) / (n + 1) ** penalty))
    return sorted(hypotheses, key=lambda h: -h.score)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("n_models", [1, 2])
@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0])
def test_wide_beam_finds_what_exhaustive_search_finds(
    penalty: float, n_models: int, norm: str
) -> None:
    models = [Transformer(replace(TINY, norm=norm), seed=seed) for seed in range(n_models)]
    src, lengths = batch(1, size=3, words=9, longest=4)
    limit, beam = 3, 40  # 3 words: 1 + 3 + 9 + 27 = 40 hypotheses
    options = SearchOptions(beam, penalty, n_best=10)
    found = translate_ids(models, src, lengths, options, max_length=limit)
    for row in range(3):
        wanted = exhaustive(
            models, src[row : row + 1, : lengths[row]], limit=limit, penalty=penalty
        )
        assert [h.ids for h in found[row]] == [h.ids for h in wanted[:10]]
        for ours, theirs in zip(found[row], wanted, strict=False):
            assert ours.score == pytest.approx(theirs.score, abs=1e-5)


@pytest.mark.parametrize("beam", [1, 4])
def test_cached_score_is_the_uncached_score(beam: int) -> None:
    models = [Transformer(LARGER, seed=seed) for seed in range(2)]
    src, lengths = batch(2, size=6, words=40, longest=9)
    found = translate_ids(models, src, lengths, SearchOptions(beam, n_best=beam))
    for row, hypotheses in enumerate(found):
        for hypothesis in hypotheses:
            [scores] = log_p(models, src[row : row + 1, : lengths[row]], [hypothesis.ids])
            assert hypothesis.score == pytest.approx(sum(scores) / len(scores), abs=1e-4)


def naive_beam_search(
    model: Transformer, src: torch.Tensor, *, beam: int, penalty: float, limit: int
) -> list[tuple[float, list[int]]]:
    """The same definition in the plainest words: no cache, one sentence, no early stop."""
    beams, found = [(0.0, [])], []
    for length in range(limit + 1):
        candidates = []
        tgt_in = torch.tensor([[BOS, *ids] for _, ids in beams])
        n_words = torch.full((len(beams),), src.shape[1])
        with torch.no_grad():
            logits = model(src.expand(len(beams), -1), n_words, tgt_in)[:, -1]
        for (score, ids), row in zip(beams, logits.log_softmax(-1).tolist(), strict=True):
            for word, value in enumerate(row):
                if value > -math.inf and (length < limit or word == EOS):
                    candidates.append((score + value, [*ids, word]))
        candidates.sort(key=lambda c: -c[0])
        ended = [c for c in candidates[:beam] if c[1][-1] == EOS]
        found += [(score / (length + 1) ** penalty, ids[:-1]) for score, ids in ended]
        beams = [c for c in candidates if c[1][-1] != EOS][:beam]
        if len(found) >= beam:
            break
    return sorted(found, key=lambda f: -f[0])


@pytest.mark.parametrize("penalty", [0.0, 1.0, 2.0])
@pytest.mark.parametrize(("beam", "n_best"), [(1, 1), (3, 1), (3, 2)])
@pytest.mark.parametrize("seed", [9, 13])
def test_batched_cached_early_stopping_search_equals_the_naive_one(
    seed: int, beam: int, n_best: int, penalty: float
) -> None:
    model = talker(seed)
    src, lengths = batch(3, size=10, words=40, longest=6)
    found = translate_ids([model], src, lengths, SearchOptions(beam, penalty, n_best))
    for row in range(10):
        limit = int(default_limit(lengths)[row])
        alone = src[row : row + 1, : lengths[row]]
        wanted = naive_beam_search(model, alone, beam=beam, penalty=penalty, limit=limit)
        assert [h.ids for h in found[row]] == [ids for _, ids in wanted[:n_best]]


def test_greedy_search_takes_the_likeliest_word_each_time() -> None:
    model = Transformer(LARGER, seed=4)
    src, lengths = batch(4, size=8, words=40, longest=6)
    found = translate_ids([model], src, lengths, SearchOptions(beam=1))
    for row, (hypothesis,) in enumerate(found):
        ids: list[int] = []
        limit = int(default_limit(lengths)[row])
        while len(ids) < limit:
            tgt_in = torch.tensor([[BOS, *ids]])
            with torch.no_grad():
                logits = model(src[row : row + 1, : lengths[row]], lengths[row : row + 1], tgt_in)
            word = int(logits[0, -1].argmax())
            if word == EOS:
                break
            ids.append(word)
        assert hypothesis.ids == ids


@pytest.mark.parametrize("clear_below", [0.0, 0.75, 1.0])
def test_other_sentences_of_the_batch_change_nothing(
    clear_below: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_CLEAR_BELOW", clear_below)
    model = talker(9)
    src, lengths = batch(5, size=16, words=40, longest=10)
    options = SearchOptions(beam=3, n_best=3, need_attention=True)
    together = translate_ids([model], src, lengths, options)
    assert len({len(best.ids) for best, *_ in together}) > 2
    for row in range(16):
        alone = slice(row, row + 1)
        (hypotheses,) = translate_ids([model], src[alone, : lengths[row]], lengths[alone], options)
        assert [h.ids for h in hypotheses] == [h.ids for h in together[row]]
        for a, b in zip(hypotheses, together[row], strict=True):
            assert a.score == pytest.approx(b.score, abs=1e-5)
            torch.testing.assert_close(a.attention, b.attention[:, : lengths[row]])


def test_attention_belongs_to_the_hypothesis_and_sums_to_one() -> None:
    model = Transformer(LARGER, seed=6)
    src, lengths = batch(6, size=5, words=40, longest=7)
    last = model.decoder[-1].cross
    options = SearchOptions(beam=4, n_best=2, need_attention=True)
    for row, hypotheses in enumerate(translate_ids([model], src, lengths, options)):
        for hypothesis in hypotheses:
            assert hypothesis.attention is not None
            assert hypothesis.attention.shape == (len(hypothesis.ids) + 1, 7)
            queries: list[torch.Tensor] = []
            handle = last.q.register_forward_hook(lambda m, i, out, q=queries: q.append(out))
            alone = src[row : row + 1, : lengths[row]]
            with torch.no_grad():
                model(alone, lengths[row : row + 1], torch.tensor([[BOS, *hypothesis.ids]]))
                handle.remove()
                (q,) = last.split(queries[0])
                k, _ = last.split(last.kv(model.encode(alone, lengths[row : row + 1])))
            wanted = (q @ k.transpose(-1, -2) / 2).softmax(-1).mean(dim=1)[0]  # d_head = 4
            ours = hypothesis.attention[:, : lengths[row]]
            torch.testing.assert_close(ours, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"beam": 0}, "n-best"),
        ({"beam": 2, "n_best": 3}, "n-best = 3"),
        ({"length_penalty": -0.5}, "length penalty"),
        ({"length_penalty": math.nan}, "length penalty"),
    ],
)
def test_impossible_search_is_refused(options: dict[str, float], named: str) -> None:
    with pytest.raises(SwitchOutError, match=named):
        SearchOptions(**options)
