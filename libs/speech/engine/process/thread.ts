/** The entry of the threads that each have a program of the operator's speak. */
import { placeByEspeak } from "../sherpa/place-words.ts"
import type { PlaceWords } from "../sherpa/speaker.ts"
import { MissingPart, serveJobs } from "../worker/serve.ts"
import { openProcessSpeaker, type ProcessModel } from "./speaker.ts"

/** On a host without espeak-ng words are placed by their length alone. */
const placeWords = (): PlaceWords => {
  let place: PlaceWords | undefined
  const open = (): PlaceWords => {
    try {
      return placeByEspeak()
    } catch (error) {
      if (error instanceof MissingPart) return () => []
      throw error
    }
  }
  return (spoken) => (place ??= open())(spoken)
}

serveJobs(({ model }, host) => openProcessSpeaker(model as ProcessModel, host, placeWords()))
