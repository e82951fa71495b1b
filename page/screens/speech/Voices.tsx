/** The voices: looked for by words, heard by a sentence, and a cloned one deleted. */
import { useState } from "react"
import { speech } from "../../api/apis.ts"
import { Refused } from "../../api/client.ts"
import { useMay } from "../../api/signed-in.ts"
import { Button } from "../../design/Button.tsx"
import { Drawer } from "../../design/Drawer.tsx"
import { Field } from "../../design/Field.tsx"
import { Empty, Fault, Loading } from "../../design/Said.tsx"
import { type Column, Table } from "../../design/Table.tsx"
import { Histories } from "../history/Histories.tsx"
import { orderFor } from "./order.ts"
import { useSpeaking } from "./speaking.ts"
import { isMeant, sentenceFor, useVoices, type Voice } from "./voices.ts"

export const Voices = () => {
  const voices = useVoices()
  const mayPreview = useMay("audio:stream")
  const mayDelete = useMay("voices:delete")
  const [wanted, setWanted] = useState("")
  const [deleted, setDeleted] = useState<Voice>()
  const { speaking, speak, stop } = useSpeaking()
  if (voices.refused !== undefined && voices.value === undefined) {
    return <Fault refused={voices.refused} onAgain={voices.reload} />
  }
  if (voices.value === undefined) return <Loading what="the voices" />
  const shown = voices.value.filter((voice) => isMeant(voice, wanted.trim()))
  const { order } = speaking
  const speaker = order?.kind === "text" ? order.request.voice_id : order?.request.turns[0]?.voice_id
  const isPlaying = ({ id }: Voice) => speaker === id && (speaking.phase === "waiting" || speaking.phase === "speaking")
  const preview = (voice: Voice) => (isPlaying(voice) ? stop() : speak(orderFor(voice, sentenceFor(voice.locale))))
  return (
    <>
      <div className="filters">
        <Field label="Search" hint="A name, a language such as de, or a word such as warm.">
          {(given) => (
            <input {...given} type="search" value={wanted} onChange={({ target }) => setWanted(target.value)} />
          )}
        </Field>
      </div>
      {speaking.refused === undefined ? null : <Fault refused={speaking.refused} />}
      {shown.length === 0 ? (
        <Empty title="No voices match">
          <p>Remove a word, or clone the voice of someone who consents.</p>
        </Empty>
      ) : (
        <Table
          label="Voices"
          rows={shown}
          keyOf={({ id }) => id}
          columns={columnsFor({
            isPlaying,
            onPreview: mayPreview ? preview : undefined,
            onDelete: mayDelete ? setDeleted : undefined
          })}
        />
      )}
      <Histories heading="The engines that speak them" kind="engine" />
      {deleted === undefined ? null : (
        <DeleteVoice
          voice={deleted}
          onClose={() => {
            setDeleted(undefined)
            voices.reload()
          }}
        />
      )}
    </>
  )
}

interface Acts {
  readonly isPlaying: (voice: Voice) => boolean
  /** Undefined where the token does not allow it; so is the next. */
  readonly onPreview: ((voice: Voice) => void) | undefined
  readonly onDelete: ((voice: Voice) => void) | undefined
}

const columnsFor = ({ isPlaying, onPreview, onDelete }: Acts): ReadonlyArray<Column<Voice>> => [
  { title: "Voice", cell: ({ display_name }) => display_name },
  {
    title: "Hear",
    cell: (voice) => (
      <Button
        kind="bare"
        notNow={onPreview === undefined ? "Your token lacks the scope audio:speech." : undefined}
        aria-label={`${isPlaying(voice) ? "Stop" : "Hear"} ${voice.display_name}`}
        onClick={() => onPreview?.(voice)}
      >
        {isPlaying(voice) ? "Stop" : "Hear"}
      </Button>
    )
  },
  { title: "Language", cell: ({ locale }) => locale },
  { title: "Gender", cell: ({ gender }) => gender.replace("_", " "), isMinor: true },
  { title: "Quality", cell: ({ quality = "not judged" }) => quality },
  {
    title: "Tags",
    cell: ({ real_time: isRealTime = true, tags = [] }) =>
      [...tags, ...(isRealTime ? [] : ["whole answers only"])].join(", "),
    isMinor: true
  },
  { title: "Id", cell: ({ id }) => <code>{id}</code>, isMinor: true },
  {
    title: "Owner",
    cell: (voice) =>
      voice.type === "shared" ? (
        "shared"
      ) : (
        <span className="row">
          cloned
          {onDelete === undefined ? null : (
            <Button kind="bare" onClick={() => onDelete(voice)} aria-label={`Delete ${voice.display_name}`}>
              Delete
            </Button>
          )}
        </span>
      )
  }
]

const DeleteVoice = ({ voice, onClose }: { readonly voice: Voice; readonly onClose: () => void }) => {
  const [refused, setRefused] = useState<Refused>()
  const remove = () =>
    speech.remove("/v1/voices/:voice_id", { params: { voice_id: voice.id } }).then(onClose, (error: unknown) => {
      if (error instanceof Refused) setRefused(error)
    })
  return (
    <Drawer kind="dialog" title={`Delete ${voice.display_name}?`} onClose={onClose}>
      <p>The voice, its sample and its picture are deleted permanently. The record of consent is kept.</p>
      {refused === undefined ? null : <Fault refused={refused} />}
      <div className="row">
        <Button kind="danger" onClick={() => void remove()}>
          Delete the voice
        </Button>
      </div>
    </Drawer>
  )
}
