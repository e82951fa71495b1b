/** The speech API as a declaration, and its client. `#contracts` has the shapes alone. */
export { speechClient, speechClientOver } from "./SpeechHttpApi.ts"
export { AudioGroup } from "./endpoints/audio.ts"
export { VoicesGroup } from "./endpoints/voices.ts"
export { speechErrorCodes } from "./error-codes.ts"
export { newestVersion, SpeechHttpApi } from "./SpeechHttpApi.ts"
