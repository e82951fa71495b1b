/** JSON as bytes and as text: passed on exactly as written, or compared in one spelling. */
export {
  parseBoundedText,
  parseJson,
  parseUnambiguousJson,
  parseUnambiguousText,
  unmarked,
  utf8Text
} from "./json-bytes.ts"
export { elementTexts, memberTexts } from "./parts.ts"
export { sameJson, sortedJson } from "./sorted-json.ts"
