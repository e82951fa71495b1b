#!/usr/bin/env python3
"""hibari-tts as an engine of Starling: speaks over stdin and stdout (docs/speech-engines.md).

    python3 -m venv venv && venv/bin/pip install hibari-tts==0.2.1
    venv/bin/python hibari_engine.py

It tells no word times; Starling finds them. It takes phonemes. Nothing but the protocol may reach stdout, so print() goes to stderr.
"""
import json
import queue
import re
import sys
import threading

wire = sys.stdout.buffer
sys.stdout = sys.stderr


def send(audio=None, **message):
    if audio is not None:
        message["bytes"] = len(audio)
    wire.write(json.dumps(message).encode() + b"\n" + (audio or b""))
    wire.flush()


def pcm(samples):
    import numpy as np

    return (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()


# IPA as Starling writes it, in the alphabet of the model; what is drawn together goes first.
SOUNDS = (
    ("tʃ", "ʧ"), ("dʒ", "ʤ"), ("aɪ", "I"), ("aʊ", "W"), ("eɪ", "A"), ("ɔɪ", "Y"), ("oʊ", "O"), ("əʊ", "O"),
    ("ɜːr", "ɜɹ"), ("ɜːɹ", "ɜɹ"), ("ɜː", "ɜɹ"), ("ɚ", "əɹ"), ("ɒ", "ɑ"), ("e", "ɛ"), ("r", "ɹ"), ("g", "ɡ"), ("ː", ""), (".", ""),
)  # fmt: skip


def in_alphabet(ipa):
    for sound, symbol in SOUNDS:
        ipa = ipa.replace(sound, symbol)
    return ipa


def sounds(voice, job):
    """The phonemes of each sentence; words that are to sound in their own way are put between the others."""
    text, spelled = job["text"], job.get("phonemes", [])
    if not spelled:
        return voice.phonemize(text)
    parts, at = [], 0
    for word in spelled:
        parts += [*voice.phonemize(text[at : word["position"]]), in_alphabet(word["ipa"])]
        at = word["position"] + word["length"]
    rest = text[at:]
    parts += voice.phonemize(rest) if any(map(str.isalnum, rest)) else [rest.strip()]
    # A mark that follows a word stays at it.
    return [re.sub(r" (?=[;:,.!?])", "", " ".join(parts))]


def main():
    from hibari import SAMPLE_RATE, Hibari

    voice = Hibari()
    jobs, cancelled = queue.Queue(), set()

    def listen():
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if message["type"] == "cancel":
                cancelled.add(message["id"])
            elif message["type"] == "speak":
                jobs.put(message)
        # The end of the input: Starling is gone, or wants no more of us.
        jobs.put(None)

    threading.Thread(target=listen, daemon=True).start()
    send(type="hello", protocol=1, sampleRateHz=SAMPLE_RATE, voices=["heart"], wordTimes=False, prosody=["rate"], phonemes=True)
    while (job := jobs.get()) is not None:
        number = job["id"]
        try:
            # The seed makes the same text the same sound each time.
            for sentence in sounds(voice, job):
                if number in cancelled:
                    break
                audio = pcm(voice.from_phonemes(sentence, speed=job["rate"], seed=1))
                # A second at a time: 1 MiB is the most that one message may carry.
                for at in range(0, len(audio), 2 * SAMPLE_RATE):
                    send(audio[at : at + 2 * SAMPLE_RATE], type="audio", id=number)
            send(type="end", id=number)
        except Exception as error:
            send(type="failed", id=number, message=str(error))
        cancelled.discard(number)


if __name__ == "__main__":
    main()
