/** The audio that a caller can request: the names of formats, and the media types of streams. */

/** `<codec>_<sample rate in Hz>_<bit rate in kbit/s>`. Opus without a bit rate has 48 kbit/s. */
export const outputFormats = [
  "pcm_8000",
  "pcm_16000",
  "pcm_22050",
  "pcm_24000",
  "pcm_44100",
  "pcm_48000",
  "mp3_22050_32",
  "mp3_22050_64",
  "mp3_22050_96",
  "mp3_22050_128",
  "mp3_22050_160",
  "mp3_22050_192",
  "mp3_24000_32",
  "mp3_24000_64",
  "mp3_24000_96",
  "mp3_24000_128",
  "mp3_24000_160",
  "mp3_24000_192",
  "mp3_44100_32",
  "mp3_44100_64",
  "mp3_44100_96",
  "mp3_44100_128",
  "mp3_44100_160",
  "mp3_44100_192",
  "wav_24000",
  "wav_48000",
  "ulaw_8000",
  "alaw_8000",
  "flac_24000",
  "flac_48000",
  "ogg_24000",
  "ogg_24000_16",
  "ogg_24000_24",
  "ogg_24000_32",
  "ogg_24000_48",
  "ogg_24000_64",
  "ogg_24000_96",
  "ogg_24000_128",
  "aac_24000"
] as const
export type OutputFormat = (typeof outputFormats)[number]

/** A WAV header needs the size of what follows. */
export const streamedFormats = outputFormats.filter((name) => !name.startsWith("wav_"))

/** Without their parameters. */
export const streamedMediaTypes = [
  "audio/L16",
  "audio/mpeg",
  "audio/basic",
  "audio/PCMA",
  "audio/flac",
  "audio/ogg",
  "audio/aac"
] as const
