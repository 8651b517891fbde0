"""The corpora known by name: where they come from, how large they are, how they are scored.

Facts, not code. ``tried`` says whether an address was really fetched by us; those that were not
are marked so in ``switchout data list``. A checksum is that of the file as downloaded.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from switchout.corpora.corpus import BleuSpec, Tokenizer


@dataclass(frozen=True)
class Download:
    """One file of the net.

    Args:
        url: Its address.
        sha256: Of its content, where known.
        tried: Whether we ever fetched it from this address.
    """

    url: str
    sha256: str | None = None
    tried: bool = False


@dataclass(frozen=True)
class PaperRow:
    """A row of the paper's dataset table (appendix A.3), as printed."""

    vocabulary: tuple[str, str]
    train: str
    dev: str
    test: str


@dataclass(frozen=True)
class Entry:
    """A corpus known by name.

    Args:
        name: What users type; ``aliases`` work too.
        title, licence: For ``switchout data list``.
        source, target: Language codes.
        bleu, tokenizer: How it is scored and split into words.
        pairs: Declared number of pairs by split; a download with other numbers is refused.
        vocabulary: Declared entries of the two vocabulary files.
        paper: The paper's row about it.
        downloads: By name in the corpus folder, or the one archive.
        members: Of an archive: name in the corpus folder → name in the archive.
        hold_out: Dev and test pairs to take from train, where the source has no such split.
    """

    name: str
    title: str
    source: str
    target: str
    bleu: BleuSpec
    tokenizer: Tokenizer = "space"
    licence: str = ""
    aliases: tuple[str, ...] = ()
    pairs: dict[str, int] = field(default_factory=dict)
    vocabulary: tuple[int, int] | None = None
    paper: PaperRow | None = None
    downloads: dict[str, Download] = field(default_factory=dict)
    members: dict[str, str] = field(default_factory=dict)
    hold_out: tuple[int, int] | None = None


def find_entry(name: str) -> Entry | None:
    """Return the entry of this name or alias; ``_`` and ``-`` are the same."""
    wanted = name.lower().replace("_", "-")
    return next((entry for entry in ENTRIES if wanted in (entry.name, *entry.aliases)), None)


def _downloads(base: str, files: dict[str, str], known: dict[str, str]) -> dict[str, Download]:
    return {name: Download(base + file, known.get(name)) for name, file in files.items()}


TOKENISED, PLAIN = BleuSpec(tokenize="none"), BleuSpec(tokenize="13a")
STANFORD = "https://nlp.stanford.edu/projects/nmt/data/"
SENNRICH = "http://data.statmt.org/rsennrich/wmt16_backtranslations/en-de/"
MULTI30K = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/tok/"

ENTRIES = (
    Entry(
        "phrasebook",
        "embedded synchronous grammar; works offline",
        "de",
        "en",
        TOKENISED,
        licence="that of switchout",
    ),
    Entry(
        "iwslt15-en-vi",
        "TED talks as prepared at Stanford (Luong and Manning 2015); the paper's en-vi",
        "en",
        "vi",
        TOKENISED,
        licence="TED, CC BY-NC-ND",
        pairs={"train": 133_317, "dev": 1_553, "test": 1_268},
        vocabulary=(17_191, 7_709),
        paper=PaperRow(("17.2K", "7.7K"), "133.3K", "1.6K", "1.3K"),
        downloads=_downloads(
            STANFORD + "iwslt15.en-vi/",
            {
                "train.en": "train.en",
                "train.vi": "train.vi",
                "dev.en": "tst2012.en",
                "dev.vi": "tst2012.vi",
                "test.en": "tst2013.en",
                "test.vi": "tst2013.vi",
                "vocab.en": "vocab.en",
                "vocab.vi": "vocab.vi",
            },
            {
                "train.vi": "707206edf2dc0280273952c7b70544ea8a1363aa69aaeb9d70514b888dc3067d",
                "dev.en": "b8fbcd0d4199d41276421d1f7228298df67dd9e2c5c134c2ee8cdf3ec27801e2",
                "dev.vi": "01004078b3f36b0c46e81b65fc6851230b3c823405c76d1d82ef3b786b512ff0",
                "test.en": "3860ce60bc5b85d96cc2d3d580cf1bc9d62440e939c1b964676d3607c4e8f1df",
                "test.vi": "29af16842808da2812b8fd4d47fc05d082ba870e60ab7755090ad04b380994cd",
                "vocab.en": "827ac2c6d51c50014376cefc1d7b6b01c412f227c4dfbc6dbcb0e88891c0b759",
                "vocab.vi": "383628b92b1dcbce472fa9857724add8b2976c2ed2bbe1d76ea8dca108c3396a",
            },
        ),
    ),
    Entry(
        "iwslt14-de-en",
        "TED talks as prepared for MIXER (Ranzato et al. 2016); the paper's «IWSLT 2016» de-en",
        "de",
        "en",
        TOKENISED,
        licence="TED, CC BY-NC-ND",
        aliases=("iwslt16-de-en",),
        pairs={"train": 153_326, "dev": 6_969, "test": 6_750},
        vocabulary=(32_011, 22_824),
        paper=PaperRow(("32.0K", "22.8K"), "153.3K", "7.0K", "6.8K"),
        downloads={
            "iwslt2014_ende.zip": Download("http://www.cs.cmu.edu/~pengchey/iwslt2014_ende.zip")
        },
        members={
            "train.de": "data/train.de-en.de.wmixerprep",
            "train.en": "data/train.de-en.en.wmixerprep",
            "dev.de": "data/valid.de-en.de",
            "dev.en": "data/valid.de-en.en",
            "test.de": "data/test.de-en.de",
            "test.en": "data/test.de-en.en",
        },
    ),
    Entry(
        "wmt15-en-de",
        "WMT as prepared at Stanford (Luong et al. 2015), with Sennrich's back-translations",
        "en",
        "de",
        TOKENISED,
        licence="see statmt.org",
        pairs={"train": 4_468_840, "dev": 2_737, "test": 2_169},
        vocabulary=(50_000, 50_000),
        paper=PaperRow(("50.0K", "50.0K"), "4.5M", "2.7K", "2.2K"),
        downloads={
            **_downloads(
                STANFORD + "wmt14.en-de/",
                {
                    "train.en": "train.en",
                    "train.de": "train.de",
                    "dev.en": "newstest2014.en",
                    "dev.de": "newstest2014.de",
                    "test.en": "newstest2015.en",
                    "test.de": "newstest2015.de",
                    "vocab.en": "vocab.50K.en",
                    "vocab.de": "vocab.50K.de",
                },
                {},
            ),
            "synthetic.en.gz": Download(SENNRICH + "news.bt.en-de.en.gz"),
            "synthetic.de.gz": Download(SENNRICH + "news.bt.en-de.de.gz"),
        },
    ),
    Entry(
        "multi30k-de-en",
        "image captions, lowercased and tokenised (Multi30k task 1, test 2016 flickr)",
        "de",
        "en",
        TOKENISED,
        licence="research use",
        pairs={"train": 29_000, "dev": 1_014, "test": 1_000},
        downloads=_downloads(
            MULTI30K,
            {
                f"{split}.{language}": f"{file}.lc.norm.tok.{language}"
                for split, file in (
                    ("train", "train"),
                    ("dev", "val"),
                    ("test", "test_2016_flickr"),
                )
                for language in ("de", "en")
            },
            {
                "train.de": "cb5a23529b65ec2061f1dc446192a9c37382b63cc75f81a0be59d34894b3a505",
                "train.en": "08925f8e0572bcd5a006702fc5fe20e2d77c6917d4eebd576fc20de6693c2119",
                "dev.de": "97232bd273eceb7207f689527386a97e4be2616b18ada47576bdaf96c8ae1f00",
                "dev.en": "46573ce391ae227f1c72f873392436a20ef18e0a6d518098cfbd70b77c8572ec",
                "test.de": "c6a33d39d48f9f510de147651316cd9d918e09ad0219df734a2f16b6baccacc4",
                "test.en": "5b7f32627cf99eced828311b955dae9800bb52bc8b91cf8b6526829e605b29d2",
            },
        ),
    ),
    Entry(
        "tatoeba-de-en",
        "short everyday sentences (Tatoeba via manythings.org), plain text; it grows with time",
        "de",
        "en",
        PLAIN,
        "punctuation",
        licence="CC BY 2.0 FR",
        downloads={"deu-eng.zip": Download("https://www.manythings.org/anki/deu-eng.zip")},
        members={"train.en-de.tsv": "deu.txt"},
        hold_out=(2_000, 2_000),
    ),
)
