"""Pages and API of ``switchout explore``: what they show, and whom they refuse."""

from __future__ import annotations

import json
import os
import re
import shlex
import time
from dataclasses import asdict
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest
from explored import OURS, add_metrics, client, write_run, write_runs
from fastapi.testclient import TestClient
from made_runs import make_config, write_corpus

from switchout.cli import run as command
from switchout.cli.preview import rendered
from switchout.explore.app import make_app
from switchout.explore.catalogue import MOST_POINTS, Catalogue, read_curves
from switchout.explore.guard import MOST_BYTES
from switchout.explore.question import PlayQuestion
from switchout.explore.site import Site
from switchout.text.preview import preview

PAGES = [
    "/",
    "/?src=das+ist&tau_x=3&vocab_y=pieces&tgt=the+house",
    "/corpus?tau_x=2",
    "/runs",
    "/runs/plain-1",
    "/runs/sweep/noisy-2",
    "/translate",
    "/api",
]
COMPARED = "run=plain-1&run=plain-2&run=sweep/noisy-1&run=sweep/noisy-2"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return write_runs(tmp_path_factory.mktemp("explore") / "runs")


@pytest.fixture(scope="module")
def web(root):
    return client(root)


class Checker(HTMLParser):
    """Notes unclosed elements, addresses and scripts."""

    VOID = ("meta", "link", "input", "br", "hr", "img")

    def __init__(self):
        super().__init__()
        self.open, self.addresses, self.scripts, self.ids = [], [], [], []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.addresses += [values[k] for k in ("href", "src", "action", "hx-get") if k in values]
        self.ids += [values["id"]] if "id" in values else []
        if tag == "script":
            self.scripts.append(values.get("src"))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("page", [*PAGES, f"/compare?{COMPARED}", "/nothing", "/?tau_x=-1"])
def test_a_page_is_whole_and_loads_nothing_from_elsewhere(web, page):
    answer = web.get(page)
    checker = Checker()
    checker.feed(answer.text)
    assert checker.open == []
    assert all(a.startswith(("/", "#", "data:")) for a in checker.addresses), checker.addresses
    assert checker.scripts == ["/static/htmx.min.js", "/static/explore.js"]
    assert len(checker.ids) == len(set(checker.ids))
    links = {a for a in checker.addresses if a.startswith("/") and a != "/compare"}
    assert {a: web.get(a).status_code for a in links} == dict.fromkeys(links, 200)


@pytest.mark.parametrize("page", PAGES)
def test_htmx_gets_a_part_of_the_page(web, page):
    whole, part = web.get(page), web.get(page, headers={"HX-Request": "true"})
    assert whole.status_code == part.status_code == 200
    assert "<html" in whole.text
    assert "<html" not in part.text
    assert "<nav" not in part.text


def test_text_is_shown_as_text(web):
    typed = "<unk> <script>alert(1)</script> &amp; ' \" das"
    shown = web.get("/", params={"src": typed, "tau_x": 1}).text
    assert "<script>alert" not in shown
    assert "&lt;unk&gt;" in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "&amp;amp;" in shown


def test_the_playground_answers_as_data(web):
    answer = web.get(
        "/api/play", params={"src": "das ist ein Haus .", "tau_x": 2, "seed": 7}
    ).json()
    assert len(answer["source"]["samples"]) == 12
    assert answer["source"]["policy"] == "SwitchOut(tau=2.0)"
    assert answer == web.get("/api/play?src=das+ist+ein+Haus+.&tau_x=2&seed=7").json()
    assert set(answer["snippets"]) == {"Python", "Hugging Face", "Command line", "TOML"}


def test_a_line_of_the_corpus(web):
    first, again = web.get("/api/line?n=1").json(), web.get("/api/line?n=3001").json()
    assert first == again
    assert first["source"]
    assert first["n_lines"] == 3000


def test_an_uploaded_vocabulary_can_be_used(web):
    name = web.post("/api/vocabularies", content="haus\nhund\nkatze\n").json()["name"]
    assert name in web.get("/api/vocabularies").json()
    found = web.get(
        "/api/play", params={"src": "haus hund maus", "vocab_x": name, "tau_x": 9}
    ).json()
    assert found["source"]["unknown"] == ["maus"]
    assert found["source"]["n_vocabulary"] == 3
    assert web.get("/", params={"src": "haus", "vocab_x": name}).status_code == 200


def test_the_users_files_are_the_vocabulary_of_page_and_api(tmp_path):
    (tmp_path / "own.de").write_text("haus hund maus\n" * 3)
    own = Site(tmp_path / "runs", tmp_path / "own.de", None)
    web = TestClient(make_app(own), base_url=OURS)
    found = web.get("/api/play", params={"src": "haus das", "tgt": "a house"}).json()
    assert found["source"]["unknown"] == ["das"]
    assert found["source"]["n_vocabulary"] == 3
    assert found["vocabularies"]["source"] == ["corpus", "own.de"]
    assert found["vocabularies"]["target"][0] == "embedded"  # there is no file of this side
    for page in (web.get("/"), web.get("/", params={"src": "haus"})):
        assert page.text.count('<option value="corpus" selected>') == 1
        assert page.text.count('<option value="embedded" selected>') == 1
    named = web.get("/api/play", params={"src": "haus das", "vocab_x": "embedded"}).json()
    assert named["vocabularies"]["source"][0] == "embedded"


def test_a_chart_of_algorithm_1_has_no_bar_that_hides_the_others(web):
    page = web.get("/", params={"src": "das ist ein Haus .", "policy_y": "none"}).text
    assert "Changed words, source" in page
    assert "exact max-ent, same" not in page
    assert "Algorithm 1, same τ" not in page
    dropped = web.get("/", params={"src": "das ist ein Haus .", "policy_x": "word_dropout"}).text
    assert "Algorithm 1, same τ" in dropped


def test_temperatures_are_those_of_the_manual(web):
    assert PlayQuestion().tau_x == 1.0
    assert PlayQuestion().tau_y == 1.1
    assert "RAML(tau=1.1)" in web.get("/api/play?tgt=a+house").json()["target"]["policy"]


def test_a_run_is_a_vocabulary(web):
    found = web.get("/api/play", params={"src": "w1 w2", "vocab_x": "run:plain-1"}).json()
    assert found["source"]["unknown"] == []


# Corpus


@pytest.mark.parametrize(
    ("asked", "options"),
    [
        ({"tau_x": 2.0, "policy_y": "none"}, {"tau_x": 2.0}),
        (
            {"by_x": "rate", "rate_x": 0.2, "policy_y": "hamming", "tau_y": 0.5, "epoch": 4},
            {"rate_x": 0.2, "policy_y": "hamming", "tau_y": 0.5, "epoch": 4},
        ),
    ],
)
def test_the_corpus_page_says_what_augment_would_do(tmp_path, asked, options):
    for side, line in (("src", "a b c d\n<i> f\n"), ("tgt", "A B C\nD\n")):
        (tmp_path / side).write_text(line * 20)
    paths = tmp_path / "src", tmp_path / "tgt"
    web = TestClient(make_app(Site(tmp_path / "runs", *paths)), base_url=OURS)
    found = web.get("/api/corpus", params={**asked, "seed": 3}).json()
    expected = preview(*paths, seed=3, **options)
    assert found["effects"] == json.loads(json.dumps([asdict(e) for e in expected.effects]))
    assert found["samples"] == json.loads(json.dumps([asdict(s) for s in expected.samples]))
    page = web.get("/corpus", params={**asked, "seed": 3}).text
    assert f"{100 * expected.effects[0].changed:.1f}% of the words change" in page
    assert "&lt;i&gt;" in page
    assert "src and tgt" in page


def test_a_corpus_with_tabs_between_its_words_can_be_looked_at(tmp_path):
    (tmp_path / "own.de").write_text("das\tHaus ist\tklein .\n" * 9)
    web = TestClient(make_app(Site(tmp_path / "runs", tmp_path / "own.de")), base_url=OURS)
    found = web.get("/api/corpus?tau_x=2")
    assert found.status_code == 200
    assert found.json()["effects"][0]["known"] == 1
    typed = web.get("/api/play", params={"src": "Haus\t.", "tau_x": 2}).json()["source"]
    assert (typed["n_words"], typed["unknown"]) == (2, [])


def test_a_sentence_that_stays_the_same_is_shown_once(tmp_path):
    """As `switchout preview` prints it, in the same words."""
    (tmp_path / "own.de").write_text("das Haus ist klein .\nein <i> Hund\n" * 3)
    web = TestClient(make_app(Site(tmp_path / "runs", tmp_path / "own.de")), base_url=OURS)
    page = web.get("/corpus?tau_x=1&seed=3").text
    shown = unescape(re.sub("<del>.*?</del>", "", page).partition("The first lines")[2])
    shown = re.sub("<mark[^>]*>(.*?) </mark>", r"[\1]", shown)
    told = [
        " ".join(re.sub("</?(p|span|li|ul)\\b[^>]*>", " ", row).split())
        for row in re.findall("<p.*?</p>", shown.partition("<footer")[0])
    ]
    seen = preview(tmp_path / "own.de", tau_x=1.0, seed=3)
    expected = []
    for row in rendered(seen, in_color=False).partition("\nsource: ")[0].splitlines():
        words = " ".join(row.split())
        if words.startswith("line"):
            expected.append(words + ":")
        elif words.startswith("as it is "):
            expected[-1] += words.removeprefix("as it is")
        elif words:
            expected.append(re.sub(r"^(epoch \d+)", r"\1:", words))
    assert told == expected
    assert any(row.startswith("the same in epochs ") for row in told)
    assert any(re.fullmatch(r"the same in epoch \d", row) for row in told)


def test_a_side_that_the_corpus_does_not_have_is_not_asked_about(tmp_path, web):
    (tmp_path / "own.en").write_text("a house\nthe dog\n")
    own = TestClient(make_app(Site(tmp_path / "runs", None, tmp_path / "own.en")), base_url=OURS)
    for page in ("/corpus", "/corpus?tau_y=abc"):
        asked = re.findall('name="(tau_.)"', own.get(page).text)
        assert asked == ["tau_y"]
    assert re.findall('name="(tau_.)"', web.get("/corpus").text) == ["tau_x", "tau_y"]


def test_a_corpus_without_noise_stays_as_it_is(web):
    page = web.get("/corpus?policy_x=none&policy_y=none").text
    assert "Both sides stay as they are" in page


# Runs


def test_runs_are_listed_with_what_is_known(web):
    runs = {run["name"]: run for run in web.get("/api/runs").json()}
    assert list(runs) == ["plain-1", "plain-2", "sweep/noisy-1", "sweep/noisy-2", "young"]
    noisy = runs["sweep/noisy-2"]
    assert (noisy["policy"], noisy["tau_x"], noisy["seed"]) == ("switchout", 1.5, 2)
    assert (noisy["state"], noisy["dev_perplexity"], noisy["dev_bleu"]) == ("done", 3.25, 40.5)
    assert runs["young"]["test_bleu"] is None


def test_a_run_in_training_shows_its_news(root):
    catalogue, folder = Catalogue(root), root / "young"
    assert catalogue.summary("young").state == "training"
    long_ago = time.time() - 1000
    for name in ("config.toml", "metrics.jsonl"):
        os.utime(folder / name, (long_ago, long_ago))
    assert Catalogue(root).summary("young").state == "stopped"
    add_metrics(folder, step=30, perplexity=2.0, dev_bleu=77.0)
    now = catalogue.summary("young")
    assert (now.state, now.step, now.dev_bleu) == ("training", 30, 77.0)
    assert read_curves(folder)["perplexity"][-1] == (30.0, 2.0)


def test_half_a_line_of_metrics_is_left_out(root):
    before = read_curves(root / "plain-2")
    with (root / "plain-2" / "metrics.jsonl").open("a") as handle:
        handle.write('{"step": 40, "perple')
    assert read_curves(root / "plain-2") == before


def test_long_curves_are_thinned_and_keep_their_end(tmp_path):
    for step in range(1, 1_003):
        add_metrics(tmp_path, step=step, perplexity=float(step))
    points = read_curves(tmp_path)["perplexity"]
    assert MOST_POINTS / 2 < len(points) <= MOST_POINTS
    assert points[-1] == (1002.0, 1002.0)
    assert points == sorted(points)


def test_a_damaged_run_hides_no_other(tmp_path):
    root = write_runs(tmp_path / "runs")
    (root / "plain-1" / "config.toml").write_text("seed = [")
    (root / "plain-2" / "result.json").write_text('{"state": "do')
    runs = {run["name"]: run for run in client(root).get("/api/runs").json()}
    assert runs["plain-1"]["state"] == runs["plain-2"]["state"] == "not readable"
    assert runs["plain-1"]["problem"]
    assert "result.json" in runs["plain-2"]["problem"]
    assert runs["sweep/noisy-1"]["state"] == "done"
    page = client(root)
    assert page.get("/runs").status_code == 200
    assert page.get("/runs/plain-1").status_code < 500


def rows(page: str) -> list[str]:
    return [part.split('"')[0] for part in page.split('name="run" value="')[1:]]


def test_runs_are_found_and_sorted(web):
    assert rows(web.get("/runs?find=switchout").text) == ["sweep/noisy-1", "sweep/noisy-2"]
    assert rows(web.get("/runs?find=PLAIN-2").text) == ["plain-2"]
    assert rows(web.get("/runs?state=done&sort=seed&down=true").text)[:2] == [
        "plain-2",
        "sweep/noisy-2",
    ]
    last = rows(web.get("/runs?sort=test_bleu&down=true").text)
    assert last[0].startswith("sweep/noisy")
    assert last[-1] == "young"


def test_a_page_without_runs_says_how_to_get_one(tmp_path, monkeypatch, capsys):
    """By a command that works as it stands, wherever the folder is."""
    monkeypatch.chdir(tmp_path)
    folder = Path("it's", "here")
    empty = client(folder)
    for page in ("/runs", "/translate"):
        (hint,) = re.findall("<code>(switchout train .*?)</code>", empty.get(page).text)
        words = shlex.split(unescape(hint))
        assert words == ["switchout", "train", "phrasebook", "--out", str(folder / "first")]
    assert command([*words[1:], "--print-config"]) == 0
    assert 'corpus = "phrasebook"' in capsys.readouterr().out


def test_none_that_matches_is_not_none_at_all(web):
    page = web.get("/runs?find=nowhere").text
    assert "None of them matches" in page
    assert "switchout train" not in page


def test_a_page_of_translations_tells_of_a_training(tmp_path):
    config = make_config(write_corpus(tmp_path / "corpus"))
    write_run(tmp_path / "runs" / "young", config, wrong=0, state="young")
    page = client(tmp_path / "runs").get("/translate").text
    assert 'In training: <a href="/runs?state=training">1</a>' in page
    assert "switchout train" not in page


def test_a_page_of_a_run_has_curves_configuration_and_translations(web):
    page = web.get("/runs/sweep/noisy-1").text
    assert "Training perplexity" in page
    assert "tau = 1.5" in page
    assert "R&amp;D" in page
    assert page.count('class="example"') == 50


def test_one_validation_is_a_number_and_no_curve(tmp_path):
    """An axis of one step would go from 59.6 to 60.4, one of BLEU 0 from -0.4 to 0.4."""
    root = write_runs(tmp_path / "runs")
    (root / "plain-1" / "metrics.jsonl").unlink()
    for step in (20, 40, 60):
        add_metrics(root / "plain-1", step=step, perplexity=90.0 / step)
    add_metrics(root / "plain-1", step=60, dev_perplexity=33.125, dev_bleu=0.0)
    web = client(root)
    page = web.get("/runs/plain-1").text
    assert page.count("<polyline") == page.count("<svg") == 1  # the training
    told = [re.findall("<t[dh][^>]*>([^<]*)</t[dh]>", row) for row in page.split("<tr")]
    assert [row for row in told if row and row[0] == "plain-1"] == [
        ["plain-1", "60", "33.12"],
        ["plain-1", "60", "0.00"],
    ]
    assert web.get("/runs/plain-2").text.count("<polyline") == 3
    both = web.get("/compare?run=plain-1&run=plain-2").text
    assert both.count("<polyline") == 6


def test_runs_are_compared_by_configuration(web):
    found = web.get(f"/api/compare?{COMPARED}").json()
    assert [group["runs"] for group in found["groups"]] == [
        ["plain-1", "plain-2"],
        ["sweep/noisy-1", "sweep/noisy-2"],
    ]
    (result,) = found["results"]
    assert result["delta"] > 10
    assert result["ci95"][0] > 0
    page = web.get(f"/compare?{COMPARED}").text
    assert "switchout x τ 1.5" in page
    assert page.count("<polyline") >= 8
    report = web.get(f"/compare/report?{COMPARED}")
    assert report.status_code == 200
    assert "switchout x τ 1.5" in report.text


def test_runs_that_cannot_be_tested_still_show_their_curves(web):
    page = web.get("/compare?run=plain-1&run=sweep/noisy-1&run=young").text
    assert "not finished" in page
    assert page.count("<polyline") >= 3
    alone = web.get("/api/compare?run=plain-1&run=plain-2").json()
    assert (alone["results"], len(alone["groups"])) == ([], 1)
    assert alone["problem"]


def test_a_report_in_the_folder_is_linked(root, web):
    (root / "sweep" / "report.html").write_text("<h1>what was found</h1>")
    assert "/reports/sweep/report.html" in web.get("/runs").text
    assert "what was found" in web.get("/reports/sweep/report.html").text


# Mistakes are one line and 4xx


@pytest.mark.parametrize(
    ("address", "status", "word"),
    [
        ("/api/play?tau_x=101", 422, "tau_x"),
        ("/api/play?tau_x=nan", 422, "tau_x"),
        ("/api/play?by_x=rate&rate_x=0.7&src=das", 422, "0.5"),
        ("/api/play?src=" + "x+" * 201, 422, "200"),
        ("/api/play?src=das&vocab_x=nothing", 422, "nothing"),
        ("/api/play?src=das&vocab_x=run:nothing", 404, "nothing"),
        ("/api/play?typo=1", 422, "typo"),
        ("/api/play?tau_x=1", 422, "give a sentence"),
        ("/api/play?src=+", 422, "give a sentence"),
        ("/api/line?n=0", 422, "n"),
        ("/api/runs/nothing", 404, "nothing"),
        ("/api/compare", 422, "run"),
        ("/compare", 422, "choose"),
        ("/api/compare?run=plain-1&run=plain-1", 422, "twice"),
        ("/runs?sort=secret", 422, "sort"),
    ],
)
def test_a_wrong_question_is_refused_in_one_line(web, address, status, word):
    answer = web.get(address)
    assert answer.status_code == status
    assert word in (answer.json()["detail"] if address.startswith("/api") else answer.text)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("tau_x=abc", "tau_x must be a temperature >= 0, at most 100, got 'abc'"),
        ("tau_y=-1", "tau_y must be a temperature >= 0, at most 100, got '-1'"),
        ("rate_x=", "rate_x must be a share of words from 0 to 1 (0.1: 10%), got ''"),
        ("seed=x", "seed must be a whole number from 0 to 2^64 - 1, got 'x'"),
        ("epoch=2147483648", "epoch must be a whole number from 0 to 2^31 - 1, got '2147483648'"),
        ("typo=1", "typo: there is no such setting"),
        ("by_x=rate&rate_x=0.7", "must lie between 0 and 0.5, a share of words"),
    ],
)
@pytest.mark.parametrize("page", ["/?src=hallo&", "/corpus?"], ids=["playground", "corpus"])
def test_a_page_keeps_its_form_beside_a_mistake(web, page, asked, said):
    answer = web.get(f"{page}{asked}&policy_y=hamming")
    shown = unescape(answer.text)
    assert answer.status_code == 422
    assert said in shown
    assert '<option value="hamming" selected>' in shown
    if "&" not in asked and "typo" not in asked:
        assert f'name="{asked.partition("=")[0]}"' in shown
        assert f'value="{asked.partition("=")[2]}"' in shown
    assert (">hallo</textarea>" in shown) == page.startswith("/?")
    part = web.get(f"{page}{asked}", headers={"HX-Request": "true"})
    assert said in unescape(part.text)
    assert "<form" not in part.text


def test_a_name_of_the_machinery_is_no_setting(web):
    for name in ("_fields_set", "self", "model_config"):
        answer = web.get(f"/?{name}=1")
        assert answer.status_code == 422
        assert f"{name}: there is no such setting" in answer.text
        assert 'name="tau_x"' in answer.text


def test_a_number_that_is_no_line_is_refused_in_words(web):
    assert web.get("/api/line?n=0").json()["detail"] == (
        "n must be the number of a line, from 1 on, got '0'"
    )


@pytest.mark.parametrize(
    ("content", "status"), [(b"\xff\xfe", 422), (b"one\n", 422), (b"a\na\n", 422), (b"", 422)]
)
def test_a_wrong_vocabulary_is_refused(web, content, status):
    answer = web.post("/api/vocabularies", content=content)
    assert answer.status_code == status
    assert "\n" not in answer.json()["detail"]


def test_a_large_body_is_refused_also_without_its_length(web):
    assert web.post("/api/vocabularies", content=b"x" * (MOST_BYTES + 1)).status_code == 413
    chunks = (b"x" * (1 << 20) for _ in range(20))
    assert web.post("/api/vocabularies", content=chunks).status_code == 413


@pytest.mark.parametrize("name", ["\ud800", "\x00", "‮", "a" * 5000, "%s", "{}"])
def test_strange_names_are_no_fault_of_the_server(web, name):
    body = json.dumps({"run": name, "line": "a"})
    answer = web.post("/api/translate", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (404, 422)
    encoded = quote(name.encode("utf-8", "surrogatepass"))
    assert web.get(f"/runs/{encoded}").status_code == 404


def test_only_what_is_in_the_folder_is_shown(root, web):
    outside = root.parent / "secret"
    outside.mkdir()
    for name in ("config.toml", "signature.json", "report.html", "metrics.jsonl"):
        (outside / name).write_text("secret")
    (root / "linked").symlink_to(outside)
    for name in (
        "../secret",
        "..%2fsecret",
        "%2e%2e/secret",
        "..%252fsecret",
        "plain-1/../../secret",
        "linked",
        quote(str(outside), safe=""),
        str(outside),
    ):
        for page in ("/runs/", "/api/runs/", "/reports/", "/static/"):
            for tail in ("", "/curves", "/report.html", "/config.toml"):
                answer = web.get(page + name + tail)
                assert answer.status_code in (404, 422), (page, name, tail)
                assert ">secret<" not in answer.text
    assert not any("linked" in run["name"] for run in web.get("/api/runs").json())


# Who may ask


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:9", "[::1]:8765", "localhost"])
def test_our_own_names_are_answered(web, host):
    assert web.get("/api/line", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "127.0.0.1.evil.example:8765", "localhost.evil", "", "0"],
)
def test_a_rebound_name_is_refused(web, host):
    assert web.get("/api/line", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "https://127.0.0.1:8765"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_another_site_is_refused(web, method, headers):
    answer = web.request(method, "/api/vocabularies", headers=headers, content="a\nb\n")
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


def test_our_own_pages_may_ask(web):
    headers = {"Origin": OURS, "Sec-Fetch-Site": "same-origin"}
    assert web.post("/api/vocabularies", headers=headers, content="a\nb\n").status_code == 200


def test_every_answer_forbids_scripts_and_frames_of_others(web):
    for address in ("/", "/api/line", "/nothing", "/static/explore.js"):
        policy = web.get(address).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy


def test_a_question_changes_nothing(root, web):
    """No GET changes the folder, the vocabularies, or a later answer."""

    def state() -> tuple[object, ...]:
        files = {p: p.stat().st_mtime_ns for p in root.rglob("*")}
        return files, web.get("/api/vocabularies").json(), web.get("/api/play?src=das").json()

    before = state()
    for page in (*PAGES, f"/compare?{COMPARED}", f"/compare/report?{COMPARED}", "/openapi.json"):
        web.get(page)
    assert state() == before


def test_what_changes_something_is_no_get(web):
    schema = web.get("/openapi.json").json()
    posts = {path for path, methods in schema["paths"].items() if "post" in methods}
    assert posts == {"/api/vocabularies", "/api/translate"}
    assert web.get("/api/translate?run=plain-1&line=a").status_code in (404, 405)
