/** JSON as bytes and as text, for what is passed on exactly as written. */
export {
  parseBoundedText,
  parseJson,
  parseUnambiguousJson,
  parseUnambiguousText,
  unmarked,
  utf8Text
} from "./json-bytes.ts"
export { elementTexts, memberTexts } from "./parts.ts"
