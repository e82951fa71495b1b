/** Which format an answer has when the request names none: by its `Accept` header, or by its `audio_format`. */
import { type AudioContainer, type AudioFormat, formatNamed, type FormatName } from "./formats.ts"

const ofContainer: Readonly<Record<AudioContainer, FormatName>> = {
  wav: "wav_24000",
  mp3: "mp3_24000_64",
  ogg: "ogg_24000",
  aac: "aac_24000",
  pcm: "pcm_24000",
  ulaw: "ulaw_8000"
}

// What a stream may be; WAV is not among them.
const ofMediaType: ReadonlyMap<string, AudioContainer> = new Map<string, AudioContainer>([
  ["*/*", "mp3"],
  ["audio/*", "mp3"],
  ["audio/mpeg", "mp3"],
  ["audio/mp3", "mp3"],
  ["audio/ogg", "ogg"],
  ["audio/aac", "aac"],
  ["audio/pcm", "pcm"],
  ["audio/l16", "pcm"],
  ["audio/basic", "ulaw"]
])

interface Range {
  readonly mediaType: string
  readonly quality: number
}

const rangeOf = (text: string): Range => {
  const [mediaType = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase())
  const quality = parameters.find((parameter) => parameter.startsWith("q="))
  return { mediaType, quality: quality === undefined ? 1 : Number(quality.slice(2)) }
}

/** The default format of a container. */
export const formatOfAudioFormat = (audioFormat: AudioContainer): AudioFormat | undefined =>
  formatNamed(ofContainer[audioFormat])

/** The format of a stream by its `Accept` header, mp3 without one; undefined when none of it can be served. */
export const formatOfAccept = (accept: string | undefined): AudioFormat | undefined => {
  if (accept === undefined || accept.trim() === "") return formatOfAudioFormat("mp3")
  const wanted = accept
    .split(",")
    .map(rangeOf)
    .filter(({ quality }) => quality > 0)
    // Equal qualities keep their order, so the first named wins.
    .toSorted((left, right) => right.quality - left.quality)
  for (const { mediaType } of wanted) {
    const container = ofMediaType.get(mediaType)
    if (container !== undefined) return formatOfAudioFormat(container)
  }
  return undefined
}
