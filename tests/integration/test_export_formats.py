"""Exports: CTranslate2 finds what we find; safetensors reads back; no loader runs what it reads."""

from __future__ import annotations

import ast
import io
import json
import pickle
import re
import shutil
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
import torch
from tiny_run import make_run, sentences

from switchout import cli
from switchout.nmt.ctranslate2 import write_ctranslate2
from switchout.nmt.model import ModelSpec, Transformer
from switchout.nmt.search import SearchOptions
from switchout.nmt.translate import translate_windows
from switchout.runs.trained import OpenRuns, export_run, load_model

ctranslate2 = pytest.importorskip("ctranslate2")
SOURCES = Path(__file__).parents[2] / "src" / "switchout"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "one", seed=1, steps=150)


def translated(folder: Path, lines: list[str], options: SearchOptions, engine: str) -> list[list]:
    with OpenRuns([folder], engine=engine) as runs:
        windows = translate_windows(runs.searcher, [lines], runs.codecs, options=options)
        return [translations for window in windows for translations in window]


@pytest.mark.parametrize("options", [SearchOptions(beam=1), SearchOptions(), SearchOptions(3, 0.0)])
def test_engines_agree_on_1000_sentences(run: Path, options: SearchOptions) -> None:
    lines, _ = sentences(1000, seed=11)  # about half of them the model translates wrongly
    ours = translated(run, lines, options, "torch")
    theirs = translated(run, lines, options, "ctranslate2")
    same = [(a.score, b.score) for (a,), (b,) in zip(ours, theirs, strict=True) if a.text == b.text]
    assert len(same) >= 990
    if options.beam > 1:  # greedy search of CTranslate2 does not normalise its scores
        assert [a for a, _ in same] == pytest.approx([b for _, b in same], abs=1e-4)


def test_engines_agree_on_n_best_and_attention(run: Path) -> None:
    lines, _ = sentences(200, seed=12)
    options = SearchOptions(beam=4, n_best=4, need_attention=True)
    with OpenRuns([run]) as a, OpenRuns([run], engine="ctranslate2") as b:
        ids = [a.codecs[0].encode(line) for line in lines]
        ours, theirs = (r.searcher.search(ids, options, lambda n: None) for r in (a, b))
    same = 0
    for source, x, y in zip(ids, ours, theirs, strict=True):
        if [h.ids for h in x] == [h.ids for h in y]:
            same += 1
            n, m = len(source), len(x[0].ids)
            torch.testing.assert_close(
                x[0].attention[:m, :n], y[0].attention[:m, :n], rtol=1e-3, atol=1e-4
            )
    assert same >= 198


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("tied", [False, True, "all"])
@pytest.mark.parametrize(
    ("heads", "d_head", "d_model", "d_inner"),
    [(5, 64, 288, 507), (4, 8, 32, 48), (3, 7, 10, 5)],
    ids=["the paper's en-vi", "equal", "odd"],
)
def test_exported_model_scores_as_ours(
    heads: int, d_head: int, d_model: int, d_inner: int, tied: bool, norm: str, tmp_path: Path
) -> None:
    spec = ModelSpec(
        src_size=30,
        tgt_size=30 if tied == "all" else 27,
        layers=2,
        heads=heads,
        d_head=d_head,
        d_model=d_model,
        d_inner=d_inner,
        init=0.1,
        tied=tied,
        norm=norm,
    )
    model = Transformer(spec, seed=3)
    specials = ["<pad>", "<s>", "</s>", "<unk>"]
    src_tokens = specials + [f"s{i}" for i in range(4, spec.src_size)]
    tgt_tokens = specials + [f"t{i}" for i in range(4, spec.tgt_size)]
    write_ctranslate2(model, tmp_path, (src_tokens, tgt_tokens))
    translator = ctranslate2.Translator(str(tmp_path), intra_threads=1)
    generator = torch.Generator().manual_seed(0)
    src = torch.randint(4, 27, (8, 6), generator=generator)
    tgt = torch.randint(4, 27, (8, 7), generator=generator)
    theirs = translator.score_batch(
        [[src_tokens[i] for i in row] for row in src.tolist()],
        [[tgt_tokens[i] for i in row] for row in tgt.tolist()],
    )
    ones = torch.ones((8, 1), dtype=torch.long)
    with torch.no_grad():
        logits = model(
            torch.cat([src, 2 * ones], 1), torch.full((8,), 7), torch.cat([ones, tgt], 1)
        )
    labels = torch.cat([tgt, 2 * ones], 1)
    ours = logits.log_softmax(-1).gather(2, labels[:, :, None])[:, :, 0]
    torch.testing.assert_close(ours, torch.tensor([s.log_probs for s in theirs]))


@pytest.mark.parametrize("to", ["ctranslate2", "safetensors"])
def test_exported_folder_is_a_run(run: Path, to: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert cli.run(["export", "--run", str(run), "--to", to, "--out", str(out)]) == 0
    lines, _ = sentences(50, seed=13)
    engine = "ctranslate2" if to == "ctranslate2" else "torch"
    wanted = [t.text for (t,) in translated(run, lines, SearchOptions(), "torch")]
    shutil.move(out, tmp_path / "elsewhere")
    got = translated(tmp_path / "elsewhere", lines, SearchOptions(), engine)
    assert [t.text for (t,) in got] == wanted


def test_safetensors_export_is_bitwise_the_run(run: Path, tmp_path: Path) -> None:
    export_run(run, tmp_path / "out", to="safetensors")
    pairs = zip(
        load_model(run).named_parameters(),
        load_model(tmp_path / "out").named_parameters(),
        strict=True,
    )
    assert all(a == b and torch.equal(x, y) for (a, x), (b, y) in pairs)


def test_quantized_export_is_smaller_and_still_translates(run: Path, tmp_path: Path) -> None:
    export_run(run, tmp_path / "full", to="ctranslate2")
    export_run(run, tmp_path / "int8", to="ctranslate2", quantization="int8")
    sizes = [(tmp_path / name / "model.bin").stat().st_size for name in ("int8", "full")]
    assert sizes[0] < 0.6 * sizes[1]
    lines, _ = sentences(100, seed=14)
    full, int8 = (
        translated(tmp_path / name, lines, SearchOptions(), "ctranslate2")
        for name in ("full", "int8")
    )
    assert sum(a[0].text == b[0].text for a, b in zip(full, int8, strict=True)) > 60


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--to", "onnx"], "onnx"),
        (["--to", "safetensors", "--quantization", "int8"], "quantization 'int8'"),
        (["--to", "ctranslate2", "--quantization", "int3"], "quantization 'int3'"),
        (["--to", "ctranslate2", "--step", "5"], "steps kept: 150"),
    ],
)
def test_mistake_is_one_line_and_writes_nothing(
    run: Path, arguments: list[str], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert cli.run(["export", "--run", str(run), "--out", str(out), *arguments]) == 2
    error = capsys.readouterr().err
    assert named in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_export_replaces_an_export_but_nothing_else(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = ["export", "--run", str(run), "--out", str(out), "--to"]
    assert cli.run([*arguments, "safetensors"]) == 0
    assert cli.run([*arguments, "ctranslate2", "--json"]) == 0
    assert "model.bin" in json.loads(capsys.readouterr().out.splitlines()[-1])["files"]
    assert not (out / "model.safetensors").exists()
    diary = tmp_path / "diary"
    diary.mkdir()
    (diary / "monday.txt").write_text("dear diary")
    assert cli.run(["export", "--run", str(run), "--out", str(diary), "--to", "safetensors"]) == 2
    assert [p.name for p in diary.iterdir()] == ["monday.txt"]


class Bomb:
    """Unpickling it makes a file."""

    def __init__(self, witness: Path):
        self.witness = witness

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.witness,)


def zipped(content: bytes) -> bytes:
    """As ``torch.save`` would pack it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("archive/data.pkl", content)
        archive.writestr("archive/version", "3")
    return out.getvalue()


def test_the_bomb_would_go_off(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Bomb(tmp_path / "witness")))
    assert (tmp_path / "witness").exists()


@pytest.mark.parametrize("packed", [False, True], ids=["pickle", "torch.save"])
@pytest.mark.parametrize("is_listed", [False, True], ids=["manifest as was", "manifest forged"])
@pytest.mark.parametrize(
    "name",
    [
        "checkpoints/step-150/model.safetensors",
        "checkpoints/step-150/facts.json",
        "checkpoints/step-150/manifest.json",
        "result.json",
        "codec.src.json",
        "codec.tgt.json",
        "vocab.src",
        "vocab.tgt",
        "pieces.src",
    ],
)
def test_pickle_bomb_in_a_run_does_nothing(
    run: Path,
    name: str,
    is_listed: bool,
    packed: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    copy, witness = shutil.copytree(run, tmp_path / "copy"), tmp_path / "witness"
    bomb = pickle.dumps(Bomb(witness))
    content = zipped(bomb) if packed else bomb
    (copy / name).write_bytes(content)
    if name == "pieces.src":
        facts = {"kind": "sentencepiece", "case": "keep", "tokenizer": "space"}
        (copy / "codec.src.json").write_text(json.dumps(facts))
    manifest = (copy / name).parent / "manifest.json"
    if is_listed and manifest.exists() and manifest.name not in name:
        hashes = json.loads(manifest.read_text())
        hashes[Path(name).name] = sha256(content).hexdigest()
        manifest.write_text(json.dumps(hashes))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"s1 s2\n")))
    assert cli.run(["translate", "--run", str(copy)]) == 2
    assert capsys.readouterr().err.count("\n") <= 2  # one line, and one that names a damaged file
    assert not witness.exists()


@pytest.mark.parametrize(
    "name", ["model.bin", "config.json", "model.json", "source_vocabulary.json"]
)
def test_pickle_bomb_in_an_export_does_nothing(
    run: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_run(run, tmp_path / "out", to="ctranslate2")
    witness = tmp_path / "witness"
    (tmp_path / "out" / name).write_bytes(pickle.dumps(Bomb(witness)))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"s1 s2\n")))
    assert cli.run(["translate", "--run", str(tmp_path / "out"), "--engine", "ctranslate2"]) == 2
    assert not witness.exists()


UNPICKLERS = {"pickle", "cPickle", "dill", "joblib", "shelve", "marshal", "cloudpickle", "yaml"}


def unpickling(tree: ast.AST) -> list[str]:
    """Names in a module that could turn a file into objects with behaviour."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [a.name for a in node.names if a.name.split(".")[0] in UNPICKLERS]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module] if node.module.split(".")[0] in UNPICKLERS else []
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if re.fullmatch(r"(torch|torch\.jit|tf\.saved_model)\.load", name):
                found.append(name)
            found += [
                name for k in node.keywords if k.arg == "allow_pickle" and "True" in ast.unparse(k)
            ]
    return found


@pytest.mark.parametrize(
    "source",
    ["import pickle", "from joblib import load", "torch.load(f)", "np.load(f, allow_pickle=True)"],
)
def test_the_source_check_finds_what_it_looks_for(source: str) -> None:
    assert unpickling(ast.parse(source))


def test_sources_never_unpickle_a_file() -> None:
    paths = sorted(SOURCES.rglob("*.py"))
    assert len(paths) > 20
    assert {str(p): found for p in paths if (found := unpickling(ast.parse(p.read_text())))} == {}
