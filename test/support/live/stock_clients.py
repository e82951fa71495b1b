"""Stock clients of OpenAI's speech and of ElevenLabs' and Cartesia's live speech, with nothing changed but the address.

Usage: stock_clients.py <client> <url> <token>; prints one line of JSON about what was heard.
"""

import asyncio
import base64
import importlib.metadata
import json
import sys

TEXT = "Good morning to you. The harbour wakes early. And now, rest."
WORDS = TEXT.split()


def told(audio, **more):
    print(json.dumps({"bytes": len(audio), **more}))


def version(package):
    """Of an installed package; None of one that is not there."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def pieces():
    for word in WORDS:
        yield word + " "


def openai(url, token):
    from openai import OpenAI

    client = OpenAI(base_url=f"{url}/v1", api_key=token)
    asked = {"model": "tts-1", "voice": "alloy", "input": TEXT}
    with client.audio.speech.with_streaming_response.create(**asked, response_format="pcm") as response:
        audio = b"".join(response.iter_bytes())
    whole = client.audio.speech.create(**asked, response_format="wav").content
    if whole[:4] != b"RIFF" or abs(len(whole) - 44 - len(audio)) > 2 * 24000 / 100:
        raise RuntimeError(f"{len(whole)} bytes of wav beside {len(audio)} of pcm")
    told(audio)


def elevenlabs(url, token):
    from elevenlabs.client import ElevenLabs

    client = ElevenLabs(base_url=url, api_key=token)
    # The package writes wss whatever the address says.
    client.text_to_speech._ws_base_url = url.replace("http", "ws", 1)
    stream = client.text_to_speech.convert_realtime("henry", text=pieces(), output_format="pcm_24000")
    told(b"".join(stream))


def cartesia(url, token):
    from cartesia import Cartesia

    client = Cartesia(api_key=token, base_url=url, websocket_base_url=url.replace("http", "ws", 1))
    with client.tts.websocket_connect() as connection:
        context = connection.context(
            model_id="sonic-3",
            voice={"mode": "id", "id": "henry"},
            output_format={"container": "raw", "encoding": "pcm_s16le", "sample_rate": 24000},
            add_timestamps=True,
        )
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
    told(audio, words=words)


async def livekit(tts, session):
    audio, words = b"", []
    stream = tts.stream()
    for word in pieces():
        stream.push_text(word)
    stream.end_input()
    async for event in stream:
        audio += bytes(event.frame.data)
        words += [str(word).strip() for word in event.frame.userdata.get("lk.timed_transcripts", [])]
    await stream.aclose()
    await tts.aclose()
    await session.close()
    told(audio, words=words)


async def livekit_elevenlabs(url, token):
    import aiohttp
    from livekit.plugins import elevenlabs as plugin

    session = aiohttp.ClientSession()
    tts = plugin.TTS(
        base_url=f"{url}/v1", api_key=token, voice_id="henry", encoding="pcm_24000", http_session=session
    )
    await livekit(tts, session)


async def livekit_cartesia(url, token):
    import aiohttp
    from livekit.plugins import cartesia as plugin

    session = aiohttp.ClientSession()
    await livekit(plugin.TTS(base_url=url, api_key=token, voice="henry", http_session=session), session)


async def pipecat(service):
    from pipecat.frames.frames import (
        LLMFullResponseEndFrame,
        LLMFullResponseStartFrame,
        LLMTextFrame,
        TTSAudioRawFrame,
        TTSStoppedFrame,
        TTSTextFrame,
    )
    from pipecat.processors.frame_processor import FrameProcessor
    from pipecat.tests.utils import SleepFrame, run_test

    frames = [LLMFullResponseStartFrame(), *(LLMTextFrame(word) for word in pieces()), LLMFullResponseEndFrame()]
    down, _ = await run_test(service, frames_to_send=[*frames, SleepFrame(sleep=4)])
    audio = b"".join(frame.audio for frame in down if isinstance(frame, TTSAudioRawFrame))
    words = [frame.text.strip() for frame in down if isinstance(frame, TTSTextFrame)]
    told(audio, words=words)


async def pipecat_elevenlabs(url, token):
    from pipecat.services.elevenlabs.tts import ElevenLabsTTSService

    settings = ElevenLabsTTSService.Settings(voice="henry")
    await pipecat(
        ElevenLabsTTSService(api_key=token, url=url.replace("http", "ws", 1), sample_rate=24000, settings=settings)
    )


async def pipecat_cartesia(url, token):
    from pipecat.services.cartesia.tts import CartesiaTTSService

    settings = CartesiaTTSService.Settings(voice="henry")
    address = url.replace("http", "ws", 1) + "/tts/websocket"
    await pipecat(CartesiaTTSService(api_key=token, url=address, sample_rate=24000, settings=settings))


CLIENTS = {
    "openai": openai,
    "elevenlabs": elevenlabs,
    "cartesia": cartesia,
    "livekit-plugins-elevenlabs": livekit_elevenlabs,
    "livekit-plugins-cartesia": livekit_cartesia,
    "pipecat-ai-elevenlabs": pipecat_elevenlabs,
    "pipecat-ai-cartesia": pipecat_cartesia,
}


def main():
    if sys.argv[1] == "--versions":
        print(json.dumps({name: version(name) for name in sys.argv[2:]}))
        return
    name, url, token = sys.argv[1:4]
    client = CLIENTS[name]
    if asyncio.iscoroutinefunction(client):
        asyncio.run(client(url, token))
    else:
        client(url, token)


main()
