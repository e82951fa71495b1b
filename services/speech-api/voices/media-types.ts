/**
 * What a file is by how it begins: the pictures that are taken, and the containers that samples come in. A name and
 * a type that the caller gives are not believed. Pure.
 */

const startsWith = (bytes: Uint8Array, text: string, at = 0) =>
  [...text].every((character, index) => bytes[at + index] === character.charCodeAt(0))

/** Bytes that tell all of them apart. */
export const headBytes = 32

/** Undefined for anything but PNG, JPEG and WebP. */
export const pictureType = (head: Uint8Array): string | undefined => {
  if (startsWith(head, "\u0089PNG\r\n\u001A\n")) return "image/png"
  if (startsWith(head, "\u00FF\u00D8\u00FF")) return "image/jpeg"
  return startsWith(head, "RIFF") && startsWith(head, "WEBP", 8) ? "image/webp" : undefined
}

/** For what was decoded already; what is not known by its beginning is some bytes. */
export const recordingType = (head: Uint8Array): string => {
  if (startsWith(head, "RIFF") && startsWith(head, "WAVE", 8)) return "audio/wav"
  if (startsWith(head, "ID3")) return "audio/mpeg"
  if (startsWith(head, "OggS")) return "audio/ogg"
  if (startsWith(head, "fLaC")) return "audio/flac"
  if (startsWith(head, "ftyp", 4)) return "audio/mp4"
  if (startsWith(head, "\u001AE\u00DF\u00A3")) return "audio/webm"
  const [first = 0, second = 0] = head
  if (first !== 0xff) return "application/octet-stream"
  if ((second & 0xf6) === 0xf0) return "audio/aac"
  return (second & 0xe0) === 0xe0 ? "audio/mpeg" : "application/octet-stream"
}
