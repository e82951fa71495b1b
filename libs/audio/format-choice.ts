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

/** What a stream may be, what is served to whoever takes any first; WAV is not among them. */
const streamed: ReadonlyArray<readonly [AudioContainer, ReadonlyArray<string>]> = [
  ["mp3", ["audio/mpeg", "audio/mp3"]],
  ["ogg", ["audio/ogg"]],
  ["aac", ["audio/aac"]],
  ["pcm", ["audio/pcm", "audio/l16"]],
  ["ulaw", ["audio/basic"]]
]
const anyAudio = "audio/*"
const anything = "*/*"

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

/**
 * The format of a stream by its `Accept` header, mp3 without one; undefined when none of it can be served. `envelope`
 * is the media type that the audio travels in, if any: a header that names it says nothing of the audio, so alone
 * it means any, and beside audio types these decide.
 */
export const formatOfAccept = (accept: string | undefined, envelope?: string): AudioFormat | undefined => {
  if (accept === undefined || accept.trim() === "") return formatOfAudioFormat("mp3")
  const named = accept.split(",").map(rangeOf)
  const ranges = envelope === undefined ? named : rangesOfAudio(named, envelope)
  let best: { readonly container: AudioContainer; readonly quality: number; readonly place: number } | undefined
  for (const [container, mediaTypes] of streamed) {
    const place = placeOf(ranges, mediaTypes)
    const quality = ranges[place]?.quality ?? 0
    if (!(quality > 0)) continue
    // Of equal qualities the first named wins, and of those that one range takes the first that we have.
    const isBetter = best === undefined || quality > best.quality || (quality === best.quality && place < best.place)
    if (isBetter) best = { container, quality, place }
  }
  return best === undefined ? undefined : formatOfAudioFormat(best.container)
}

const rangesOfAudio = (named: ReadonlyArray<Range>, envelope: string): ReadonlyArray<Range> => {
  const anyOfItsKind = `${envelope.split("/")[0]}/*`
  const isEnvelope = ({ mediaType }: Range) => mediaType === envelope || mediaType === anyOfItsKind
  const isOfAudio = ({ mediaType }: Range) => mediaType.startsWith("audio/") || mediaType === anything
  const takes = ({ quality }: Range) => quality > 0
  const rest = named.filter((range) => !isEnvelope(range))
  const takesAny =
    named.some((range) => isEnvelope(range) && takes(range)) && !rest.some((range) => isOfAudio(range) && takes(range))
  return takesAny ? [...rest, { mediaType: anyAudio, quality: 1 }] : rest
}

/** Where the range stands that decides on these names of one type: the most exact one; -1 for none. */
const placeOf = (ranges: ReadonlyArray<Range>, mediaTypes: ReadonlyArray<string>) => {
  const exact = ranges.findIndex(({ mediaType }) => mediaTypes.includes(mediaType))
  if (exact !== -1) return exact
  const audio = ranges.findIndex(({ mediaType }) => mediaType === anyAudio)
  return audio === -1 ? ranges.findIndex(({ mediaType }) => mediaType === anything) : audio
}
