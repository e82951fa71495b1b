"""Clients of speech, as their makers publish them, with nothing changed but the address, the key and the voice.

Usage: speech.py <client> <url> <token>; prints a line of JSON with what each of its tasks brought, or why it failed.
"""

import asyncio
import base64
import inspect
import json
import sys

TEXT = "Good morning to you. The harbour wakes early. And now, rest."
WORDS = TEXT.split()
VOICE = "henry"
SILENT = "..."


def heard(audio, **more):
    return {"bytes": len(audio), **more}


def pieces():
    for word in WORDS:
        yield word + " "


def refusal(call):
    """The status by which a client tells of a voice that is not there."""
    try:
        call()
    except Exception as error:  # noqa: BLE001
        return {"status": getattr(error, "status_code", None)}
    return {}


def openai(url, token):
    from openai import OpenAI

    client = OpenAI(base_url=f"{url}/v1", api_key=token)
    asked = {"model": "tts-1", "voice": "alloy"}

    def streamed():
        with client.audio.speech.with_streaming_response.create(
            **asked, input=TEXT, response_format="pcm"
        ) as response:
            return heard(b"".join(response.iter_bytes()))

    def whole(text=TEXT):
        audio = client.audio.speech.create(**asked, input=text, response_format="wav").content
        assert audio[:4] == b"RIFF"
        return heard(audio)

    def nobody():
        client.audio.speech.create(model="tts-1", voice="nobody", input=TEXT)

    return {
        "streamed": streamed,
        "whole": whole,
        "silent": lambda: whole(SILENT),
        "refused": lambda: refusal(nobody),
    }


def elevenlabs(url, token):
    from elevenlabs.client import ElevenLabs

    client = ElevenLabs(base_url=url, api_key=token)
    # The package writes wss whatever the address says.
    client.text_to_speech._ws_base_url = url.replace("http", "ws", 1)
    speech = client.text_to_speech
    asked = {"output_format": "pcm_24000", "model_id": "eleven_flash_v2_5"}

    def timed():
        parts = list(speech.stream_with_timestamps(VOICE, text=TEXT, **asked))
        whole = speech.convert_with_timestamps(VOICE, text=TEXT, **asked)
        assert "".join(whole.alignment.characters) == TEXT
        chars = [character for part in parts if part.alignment for character in part.alignment.characters]
        return heard(b"".join(base64.b64decode(part.audio_base_64) for part in parts), words="".join(chars).split())

    def voices():
        every = [voice.voice_id for voice in client.voices.get_all().voices]
        assert VOICE in every and client.voices.get(VOICE).name
        found = client.voices.search(search=VOICE, page_size=5)
        assert [voice.voice_id for voice in found.voices] == [VOICE] and not found.has_more
        assert any(model.can_do_text_to_speech for model in client.models.list())
        return {"voices": len(every)}

    return {
        "whole": lambda: heard(b"".join(speech.convert(VOICE, text=TEXT, **asked))),
        "streamed": lambda: heard(b"".join(speech.stream(VOICE, text=TEXT, **asked))),
        "timed": timed,
        "live": lambda: heard(b"".join(speech.convert_realtime(VOICE, text=pieces(), output_format="pcm_24000"))),
        "voices": voices,
        "silent": lambda: heard(b"".join(speech.convert(VOICE, text=SILENT, output_format="mp3_44100_128"))),
        "refused": lambda: refusal(lambda: b"".join(speech.convert("nobody", text=TEXT))),
    }


def cartesia(url, token):
    from cartesia import Cartesia

    client = Cartesia(api_key=token, base_url=url, websocket_base_url=url.replace("http", "ws", 1))
    voice = {"mode": "id", "id": VOICE}
    raw = {"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000}
    asked = {"model_id": "sonic-3", "voice": voice}

    def whole(text=TEXT):
        wav = {"container": "wav", "encoding": "pcm_f32le", "sample_rate": 44100}
        audio = client.tts.generate(**asked, transcript=text, output_format=wav).read()
        assert audio[:4] == b"RIFF"
        return heard(audio)

    def timed():
        audio, words = b"", []
        for event in client.tts.generate_sse(**asked, transcript=TEXT, output_format=raw, add_timestamps=True):
            if event.type == "chunk":
                audio += base64.b64decode(event.data)
            elif event.type == "timestamps":
                words += event.word_timestamps.words
            elif event.type == "error":
                raise RuntimeError(event)
        return heard(audio, words=words)

    def live():
        with client.tts.websocket_connect() as connection:
            context = connection.context(**asked, output_format=raw, add_timestamps=True)
            for word in pieces():
                context.push(word)
            context.no_more_inputs()
            audio, words = b"", []
            for message in context.receive():
                if message.type == "chunk":
                    audio += message.audio or b""
                elif message.type == "timestamps":
                    words += message.word_timestamps.words
                elif message.type == "error":
                    raise RuntimeError(message)
        return heard(audio, words=words)

    def voices():
        every = [voice.id for voice in client.voices.list(limit=20)]
        assert VOICE in every and len(set(every)) == len(every) and client.voices.get(VOICE).name
        return {"voices": len(every)}

    def nobody():
        client.tts.generate(model_id="sonic-3", voice={"id": "nobody"}, transcript=TEXT, output_format=raw)

    return {
        "whole": whole,
        "timed": timed,
        "live": live,
        "voices": voices,
        "silent": lambda: whole(SILENT),
        "refused": lambda: refusal(nobody),
    }


async def frames_of(stream):
    audio, words = b"", []
    async for event in stream:
        audio += bytes(event.frame.data)
        words += [str(word).strip() for word in event.frame.userdata.get("lk.timed_transcripts", [])]
    await stream.aclose()
    return heard(audio, **({"words": words} if words else {}))


def livekit(make, is_live=True):
    async def once(use):
        import aiohttp

        async with aiohttp.ClientSession() as session:
            tts = make(session)
            try:
                return await use(tts)
            finally:
                await tts.aclose()

    async def live(tts):
        stream = tts.stream()
        for word in pieces():
            stream.push_text(word)
        stream.end_input()
        return await frames_of(stream)

    return {
        "whole": lambda: once(lambda tts: frames_of(tts.synthesize(TEXT))),
        **({"live": lambda: once(live)} if is_live else {}),
        "silent": lambda: once(lambda tts: frames_of(tts.synthesize(SILENT))),
    }


def livekit_elevenlabs(url, token):
    from livekit.plugins import elevenlabs as plugin

    asked = {"base_url": f"{url}/v1", "api_key": token, "voice_id": VOICE, "encoding": "pcm_24000"}
    return livekit(lambda session: plugin.TTS(**asked, http_session=session))


def livekit_cartesia(url, token):
    from livekit.plugins import cartesia as plugin

    return livekit(lambda session: plugin.TTS(base_url=url, api_key=token, voice=VOICE, http_session=session))


def livekit_speechify(url, token):
    from livekit.plugins import speechify as plugin

    return livekit(lambda _: plugin.TTS(base_url=url, api_key=token, voice_id=VOICE))


def livekit_openai(url, token):
    from livekit.plugins import openai as plugin

    return livekit(lambda _: plugin.TTS(base_url=f"{url}/v1", api_key=token, response_format="pcm"), is_live=False)


def pipecat(make):
    async def spoken(text):
        import aiohttp
        from pipecat.frames.frames import (
            ErrorFrame,
            LLMFullResponseEndFrame,
            LLMFullResponseStartFrame,
            LLMTextFrame,
            TTSAudioRawFrame,
            TTSTextFrame,
        )
        from pipecat.tests.utils import SleepFrame, run_test

        async with aiohttp.ClientSession() as session:
            words = [word + " " for word in text.split()]
            frames = [LLMFullResponseStartFrame(), *map(LLMTextFrame, words), LLMFullResponseEndFrame()]
            down, up = await run_test(make(session), frames_to_send=[*frames, SleepFrame(sleep=4)])
        errors = [frame.error for frame in [*down, *up] if isinstance(frame, ErrorFrame)]
        if errors:
            raise RuntimeError(errors)
        audio = b"".join(frame.audio for frame in down if isinstance(frame, TTSAudioRawFrame))
        words = [frame.text.strip() for frame in down if isinstance(frame, TTSTextFrame)]
        return heard(audio, words=words)

    return {"live": lambda: spoken(TEXT), "silent": lambda: spoken(SILENT)}


def pipecat_elevenlabs(url, token):
    from pipecat.services.elevenlabs.tts import ElevenLabsTTSService as Service

    asked = {"api_key": token, "url": url.replace("http", "ws", 1), "sample_rate": 24000}
    return pipecat(lambda _: Service(**asked, settings=Service.Settings(voice=VOICE)))


def pipecat_elevenlabs_http(url, token):
    from pipecat.services.elevenlabs.tts import ElevenLabsHttpTTSService as Service

    asked = {"api_key": token, "base_url": url, "sample_rate": 24000}
    return pipecat(lambda session: Service(**asked, aiohttp_session=session, settings=Service.Settings(voice=VOICE)))


def pipecat_cartesia(url, token):
    from pipecat.services.cartesia.tts import CartesiaTTSService as Service

    asked = {"api_key": token, "url": url.replace("http", "ws", 1) + "/tts/websocket", "sample_rate": 24000}
    return pipecat(lambda _: Service(**asked, settings=Service.Settings(voice=VOICE)))


def pipecat_cartesia_http(url, token):
    from pipecat.services.cartesia.tts import CartesiaHttpTTSService as Service

    asked = {"api_key": token, "base_url": url, "sample_rate": 24000}
    return pipecat(lambda session: Service(**asked, aiohttp_session=session, settings=Service.Settings(voice=VOICE)))


def pipecat_speechify(url, token):
    from pipecat.services.speechify.tts import SpeechifyHttpTTSService as Service

    asked = {"api_key": token, "base_url": url, "sample_rate": 24000}
    return pipecat(lambda session: Service(**asked, aiohttp_session=session, settings=Service.Settings(voice=VOICE)))


def pipecat_openai(url, token):
    from pipecat.services.openai.tts import OpenAITTSService as Service

    return pipecat(lambda _: Service(api_key=token, base_url=f"{url}/v1", sample_rate=24000))


CLIENTS = {
    "openai-py": openai,
    "elevenlabs-py": elevenlabs,
    "cartesia-py": cartesia,
    "livekit-elevenlabs-py": livekit_elevenlabs,
    "livekit-cartesia-py": livekit_cartesia,
    "livekit-speechify-py": livekit_speechify,
    "livekit-openai-py": livekit_openai,
    "pipecat-elevenlabs": pipecat_elevenlabs,
    "pipecat-elevenlabs-http": pipecat_elevenlabs_http,
    "pipecat-cartesia": pipecat_cartesia,
    "pipecat-cartesia-http": pipecat_cartesia_http,
    "pipecat-speechify": pipecat_speechify,
    "pipecat-openai": pipecat_openai,
}


def done(task):
    try:
        result = task()
        return asyncio.run(result) if inspect.isawaitable(result) else result
    except Exception as error:  # noqa: BLE001
        return {"error": f"{type(error).__name__}: {error}"[:600]}


def main():
    name, url, token = sys.argv[1:4]
    tasks = CLIENTS[name](url, token)
    print("told: " + json.dumps({task: done(act) for task, act in tasks.items()}))


main()
