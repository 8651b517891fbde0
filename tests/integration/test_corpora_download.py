"""Downloads against a real local HTTP server that breaks in every way we promise to survive."""

from __future__ import annotations

import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from switchout.corpora import BleuSpec, open_corpus
from switchout.corpora import download as download_module
from switchout.corpora.download import download
from switchout.corpora.get import get_corpus
from switchout.corpora.registry import Download, Entry
from switchout.errors import SwitchOutError

CONTENT = b"".join(b"%d\n" % (i**5) for i in range(30_000))
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@dataclass
class Server:
    """What the server offers and how it misbehaves.

    Attributes:
        files: Content by path.
        ranges: Whether it honours Range.
        cut_after: Close the connection after so many bytes of a body, each time.
        cuts: How many times to cut before behaving.
        no_length: Hide Content-Length, so that a cut body looks whole.
        length: Say this instead of the true Content-Length.
        etag: Version of the files.
        errors: Status codes to answer first.
        requests: The Range header of every request seen, or an empty string.
    """

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    ranges: bool = True
    cut_after: int = 0
    cuts: int = 0
    no_length: bool = False
    length: str | None = None
    etag: str | None = '"1"'
    errors: list[int] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range", "")
            state.requests.append(wanted)
            if state.errors:
                self.send_error(state.errors.pop(0))
                return
            content = state.files.get(self.path)
            if content is None:
                self.send_error(404)
                return
            start = 0
            is_current = self.headers.get("If-Range", state.etag) == state.etag
            if wanted and state.ranges and is_current:
                start = int(wanted.removeprefix("bytes=").removesuffix("-"))
                if start >= len(content):
                    self.send_response(416)
                    self.send_header("Content-Range", f"bytes */{len(content)}")
                    self.end_headers()
                    return
                self.send_response(206)
                self.send_header(
                    "Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}"
                )
            else:
                self.send_response(200)
            body = content[start:]
            if not state.no_length:
                self.send_header("Content-Length", state.length or str(len(body)))
            if state.etag:
                self.send_header("ETag", state.etag)
            self.end_headers()
            if state.cuts:
                state.cuts -= 1
                body = body[: state.cut_after]
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    state.url = f"http://127.0.0.1:{httpd.server_port}"
    state.files["/a"] = CONTENT
    yield state
    httpd.shutdown()
    httpd.server_close()


def fetch(server: Server, path: Path, sha256: str | None = None) -> Path:
    return download(f"{server.url}/a", path, sha256=sha256, patience=0.0)


@pytest.mark.parametrize("ranges", [True, False], ids=["ranges", "no ranges"])
@pytest.mark.parametrize("etag", ['"1"', None, 'W/"1"'], ids=["etag", "no etag", "weak etag"])
def test_cut_connections_are_survived(
    server: Server, tmp_path: Path, ranges: bool, etag: str | None
) -> None:
    server.ranges, server.etag, server.cut_after, server.cuts = ranges, etag, 70_000, 2
    assert fetch(server, tmp_path / "a", SHA256).read_bytes() == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    asked = ["", "bytes=70000-", "bytes=140000-" if ranges else "bytes=70000-"]
    assert server.requests == (asked if etag == '"1"' else ["", "", ""])


def test_the_next_command_resumes_where_this_one_gave_up(server: Server, tmp_path: Path) -> None:
    server.cut_after, server.cuts = 1000, 99
    with pytest.raises(SwitchOutError, match=r"cut at 5,000 of .* run the same command again"):
        fetch(server, tmp_path / "a")
    assert not (tmp_path / "a").exists()
    server.cuts, server.requests = 0, []
    assert fetch(server, tmp_path / "a", SHA256).read_bytes() == CONTENT
    assert server.requests == ["bytes=5000-"]


def test_a_file_that_changed_in_between_is_not_glued(server: Server, tmp_path: Path) -> None:
    server.cut_after, server.cuts = 1000, 99
    with pytest.raises(SwitchOutError, match="cut at"):
        fetch(server, tmp_path / "a")
    new = b"new " * 50_000
    server.files["/a"], server.etag, server.cuts = new, '"2"', 0
    assert fetch(server, tmp_path / "a").read_bytes() == new


def test_a_part_that_is_whole_already_needs_no_more_bytes(server: Server, tmp_path: Path) -> None:
    (tmp_path / "a.part").write_bytes(CONTENT)
    (tmp_path / "a.part.tag").write_text('"1"')
    assert fetch(server, tmp_path / "a", SHA256).read_bytes() == CONTENT
    assert server.requests == [f"bytes={len(CONTENT)}-"]


def test_a_part_longer_than_the_file_is_thrown_away(server: Server, tmp_path: Path) -> None:
    (tmp_path / "a.part").write_bytes(CONTENT + b"rubbish")
    (tmp_path / "a.part.tag").write_text('"1"')
    assert fetch(server, tmp_path / "a", SHA256).read_bytes() == CONTENT


def test_a_wrong_checksum_is_refused_and_removed(server: Server, tmp_path: Path) -> None:
    with pytest.raises(SwitchOutError, match=f"wrong checksum .sha256 {SHA256}, expected 000"):
        fetch(server, tmp_path / "a", "0" * 64)
    assert [path.name for path in tmp_path.iterdir() if path.name == "a"] == []
    assert not (tmp_path / "a.part").exists()


def test_a_finished_file_is_not_fetched_again(server: Server, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(CONTENT)
    fetch(server, tmp_path / "a", SHA256)
    assert server.requests == []


@pytest.mark.parametrize(
    ("errors", "message"),
    [([404], "404"), ([403], "403"), ([503] * 5, "503 .*5 attempts")],
    ids=str,
)
def test_a_refusing_server_is_quoted(
    server: Server, tmp_path: Path, errors: list[int], message: str
) -> None:
    server.errors = errors
    with pytest.raises(SwitchOutError, match=f"the server says {message}"):
        fetch(server, tmp_path / "a")


def test_a_server_that_recovers_is_forgiven(server: Server, tmp_path: Path) -> None:
    server.errors = [503, 500]
    assert fetch(server, tmp_path / "a", SHA256).read_bytes() == CONTENT


@pytest.mark.parametrize("length", ["x", "-5", "1e3", "9" * 5000, "٣"])
@pytest.mark.parametrize("etag", ['"1"', "\x7f\x01", '"' + "e" * 5000 + '"', '"ü"'])
def test_bad_headers_are_not_believed(
    server: Server, tmp_path: Path, length: str, etag: str
) -> None:
    server.length, server.etag = length.encode().decode("latin-1"), etag
    assert fetch(server, tmp_path / "a").read_bytes() == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_no_server_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(SwitchOutError, match=r"127\.0\.0\.1:9/a: .*5 attempts") as caught:
        download("http://127.0.0.1:9/a", tmp_path / "a", patience=0.0)
    assert "\n" not in str(caught.value)


def text(prefix: str, n: int) -> bytes:
    return "".join(f"{prefix} {i}\n" for i in range(n)).encode()


@pytest.fixture
def entry(server: Server, monkeypatch: pytest.MonkeyPatch) -> Entry:
    """A small corpus of plain files on the server, 50 training pairs declared."""
    monkeypatch.setattr(download_module, "ATTEMPTS", 2)
    monkeypatch.setattr(download_module.time, "sleep", lambda seconds: None)
    files, sizes = {}, {"train": 50, "dev": 5, "test": 4}
    for split, n in sizes.items():
        for language in ("xx", "yy"):
            content = text(f"{split} {language}", n)
            server.files[f"/raw-{split}.{language}"] = content
            sha256 = hashlib.sha256(content).hexdigest() if split != "train" else None
            url = f"{server.url}/raw-{split}.{language}"
            files[f"{split}.{language}"] = Download(url, sha256)
    return Entry("toy", "a toy", "xx", "yy", BleuSpec("none"), pairs=sizes, downloads=files)


def test_get_brings_a_corpus_that_can_be_opened(entry: Entry, tmp_path: Path) -> None:
    facts = get_corpus(entry, tmp_path)
    assert facts["found"] == entry.pairs
    assert [path.name for path in tmp_path.iterdir()] == ["toy"]
    corpus = open_corpus(tmp_path / "toy", source="xx", target="yy")
    assert corpus.pairs("dev")[0] == [f"dev xx {i}" for i in range(5)]


def test_a_cut_download_leaves_no_corpus_and_resumes(
    entry: Entry, server: Server, tmp_path: Path
) -> None:
    server.cut_after, server.cuts = 100, 99
    with pytest.raises(SwitchOutError, match="cut at 200 of"):
        get_corpus(entry, tmp_path)
    assert not (tmp_path / "toy").exists()
    server.cuts = 0
    assert get_corpus(entry, tmp_path)["found"] == entry.pairs
    assert "bytes=200-" in server.requests
    assert [path.name for path in tmp_path.iterdir()] == ["toy"]


def test_a_download_cut_without_a_trace_is_refused_by_its_count(
    entry: Entry, server: Server, tmp_path: Path
) -> None:
    """No length, no checksum: only the declared number of pairs tells."""
    for language in ("xx", "yy"):
        server.files[f"/raw-train.{language}"] = text(f"train {language}", 31)
    server.no_length = True
    with pytest.raises(SwitchOutError, match="toy: train has 31 pairs, declared are 50"):
        get_corpus(entry, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_import_may_be_smaller_but_says_so(entry: Entry, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    for name in entry.downloads:
        (raw / f"raw-{name}").write_bytes(text(name, 3))
    facts = get_corpus(entry, tmp_path / "data", from_folder=raw)
    assert facts["found"] == {"train": 3, "dev": 3, "test": 3}
    assert facts["declared"]["train"] == 50
    again = get_corpus(entry, tmp_path / "data2", from_folder=tmp_path / "data" / "toy")
    assert again["found"] == facts["found"]


def test_an_import_names_the_missing_file(entry: Entry, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "raw-train.xx").write_bytes(b"a\n")
    with pytest.raises(SwitchOutError, match=r"neither raw-train\.yy nor train\.yy"):
        get_corpus(entry, tmp_path / "data", from_folder=raw)
    assert not (tmp_path / "data").exists()


def archive(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in members.items():
            zipped.writestr(name, content)
    return buffer.getvalue()


def patched(content: bytes, at: int, in_directory: int | None, byte: bytes) -> bytes:
    """Change a byte of the first member's header, and its copy in the directory of the archive."""
    changed = bytearray(content)
    changed[at : at + 1] = byte
    if in_directory is not None:
        place = content.index(b"PK\x01\x02") + in_directory
        changed[place : place + 1] = byte
    return bytes(changed)


@pytest.fixture
def zipped(entry: Entry, server: Server) -> Entry:
    """A corpus like manythings.org's: one zip, one file of three columns, no splits."""
    lines = "".join(f"English {i}\tDeutsch {i}\tauthor\n" for i in range(60))
    server.files["/deu-eng.zip"] = archive({"deu.txt": lines.encode()})
    return replace(
        entry,
        source="de",
        target="en",
        pairs={},
        downloads={"deu-eng.zip": Download(f"{server.url}/deu-eng.zip")},
        members={"train.en-de.tsv": "deu.txt"},
        hold_out=(5, 6),
    )


def test_an_archive_without_splits_gets_dev_and_test(zipped: Entry, tmp_path: Path) -> None:
    facts = get_corpus(zipped, tmp_path)
    assert facts["found"] == {"train": 49, "dev": 5, "test": 6}
    corpus = open_corpus(tmp_path / "toy", source="de", target="en")
    for split in ("train", "dev", "test"):
        for de, en in corpus.stream(split):
            assert de.removeprefix("Deutsch ") == en.removeprefix("English ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (archive({"other.txt": b"x"}), "not the expected archive.*deu.txt"),
        (archive({"deu.txt": CONTENT})[:-2000], "damaged or truncated archive"),
        (patched(archive({"deu.txt": CONTENT}), 6, 8, b"\x01"), "damaged or truncated archive"),
        (patched(archive({"deu.txt": CONTENT}), 8, 10, b"\x63"), "damaged or truncated archive"),
        (patched(archive({"deu.txt": CONTENT}), 60, None, b"\xff"), "damaged or truncated archive"),
    ],
    ids=["other archive", "truncated", "encrypted", "unknown compression", "damaged"],
)
def test_a_wrong_archive_is_refused_and_removed(
    zipped: Entry, server: Server, tmp_path: Path, content: bytes, message: str
) -> None:
    server.files["/deu-eng.zip"] = content
    with pytest.raises(SwitchOutError, match=message):
        get_corpus(zipped, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_embedded_corpus_needs_no_download(tmp_path: Path) -> None:
    with pytest.raises(SwitchOutError, match="nothing to get"):
        get_corpus(Entry("phrasebook", "", "de", "en", BleuSpec()), tmp_path)
