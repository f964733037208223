"""LibreTranslate's own client against `gatto serve`: what it knows of the service must be true of ours.

    python libretranslate.py ADDRESS SOURCES TRANSLATIONS

SOURCES has an English sentence in every line, TRANSLATIONS what `gatto predict` makes of each.
"""

import sys
import urllib.error
from pathlib import Path

from libretranslatepy import LibreTranslateAPI


def main() -> None:
    address, sources, translations = sys.argv[1:]
    sources = Path(sources).read_text(encoding="utf-8").splitlines()
    translations = Path(translations).read_text(encoding="utf-8").splitlines()
    assert len(sources) == len(translations) > 0
    client = LibreTranslateAPI(address)

    languages = client.languages()
    assert {language["code"] for language in languages} == {"en", "it"}, languages
    assert languages[0]["name"] == "English" and "it" in languages[0]["targets"], languages

    for source, expected in zip(sources, translations):
        found = client.translate(source, "en", "it")
        assert found == expected, (source, found, expected)
        assert client.translate(source, "auto", "it") == expected, source
    lines = client.translate("\n".join(sources), "en", "it")
    assert lines == "\n".join(translations), lines

    detected = client.detect(sources[0])
    assert detected[0]["language"] == "en" and 0 <= detected[0]["confidence"] <= 100, detected

    try:
        client.translate("the cat", "en", "xx")
    except urllib.error.HTTPError as error:
        assert error.code == 400 and b'"error"' in error.read(), error
    else:
        raise AssertionError("a language that is not there was translated into")
    print(f"{len(sources)} sentences, as `gatto predict` translates them")


if __name__ == "__main__":
    main()
