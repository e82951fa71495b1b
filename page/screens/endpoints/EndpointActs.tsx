/** What can be done about an endpoint, each with its consequence. */
import { type ReactNode, useState } from "react"
import { addressWith } from "../../address.ts"
import { post } from "../../api/client.ts"
import { Act } from "../../design/Act.tsx"
import { Once } from "../../design/Once.tsx"
import { CredentialInputs } from "./Credentials.tsx"
import { type Credentials, givenCredentials } from "./endpoint-form.ts"
import { makeSecret } from "./EndpointForm.tsx"
import type { EndpointRow } from "./state.ts"

interface EndpointActsProps {
  readonly endpoint: EndpointRow
  /** What is said of an act, and the endpoint after it. */
  readonly onDone: (words: ReactNode, changed?: EndpointRow) => void
  readonly onRemoved: () => void
}

const scope = "console:operate"
const inFile = "It is defined in the configuration file: change it there."

export const EndpointActs = ({ endpoint, onDone, onRemoved }: EndpointActsProps) => {
  const { name, paused, source } = endpoint
  const params = { name }
  const notNow = source === "configuration" ? inFile : undefined
  return (
    <>
      <Test name={name} onDone={onDone} />
      {paused === null ? (
        <Act
          label="Pause"
          scope={scope}
          question={`Pause ${name}?`}
          run={(reason) => post("/endpoints/:name/pause", { reason }, { params }).then((now) => onDone("Paused.", now))}
        >
          <p>Nothing is sent to it until someone resumes it. It keeps its backlog and misses nothing.</p>
        </Act>
      ) : (
        <Act
          label="Resume"
          kind="main"
          scope={scope}
          question={`Resume ${name}?`}
          run={(reason) =>
            post("/endpoints/:name/resume", { reason }, { params }).then((now) => onDone("Resumed.", now))
          }
        >
          <p>Its pending deliveries are sent at once, and its breaker closes.</p>
        </Act>
      )}
      <Rotate endpoint={endpoint} notNow={notNow} onDone={onDone} />
      <ReplaceCredentials endpoint={endpoint} notNow={notNow} onDone={onDone} />
      <OnOff endpoint={endpoint} notNow={notNow} onDone={onDone} />
      <Act
        label="Remove"
        kind="danger"
        scope={scope}
        notNow={notNow}
        question={`Remove ${name}?`}
        run={(reason) =>
          post("/endpoints/:name/remove", { reason }, { params }).then(() => {
            onDone("Removed.")
            onRemoved()
          })
        }
      >
        <p>Nothing more is sent to it. Its pending deliveries are abandoned.</p>
      </Act>
    </>
  )
}

const Test = ({ name, onDone }: { readonly name: string; readonly onDone: EndpointActsProps["onDone"] }) => (
  <Act
    label="Test"
    scope={scope}
    question={`Send a test to ${name}?`}
    run={(reason) =>
      post("/endpoints/:name/test", { reason }, { params: { name } }).then(({ deliveryId }) =>
        onDone(
          <>
            Test sent: <a href={`#${addressWith(`/deliveries/${deliveryId}`, {})}`}>its delivery</a> stands here once it
            was tried.
          </>
        )
      )
    }
  >
    <p>
      It gets one example of <code>work_item.merged</code> with <code>X-Service-Test: true</code>, tried once.
    </p>
  </Act>
)

interface OfRunTimeProps extends Pick<EndpointActsProps, "endpoint" | "onDone"> {
  readonly notNow: string | undefined
}

const Rotate = ({ endpoint: { name, isSigned, hasStandardWebhooks }, notNow, onDone }: OfRunTimeProps) => {
  const [secret, setSecret] = useState(makeSecret)
  const rotate = async (reason: string) => {
    const secrets = {
      ...(isSigned || !hasStandardWebhooks ? { secret } : {}),
      ...(hasStandardWebhooks || !isSigned ? { standardWebhooksSecret: secret } : {})
    }
    const changed = await post("/endpoints/:name/rotate", { reason, ...secrets }, { params: { name } })
    onDone(<Once what="Its new secret" secret={secret} />, changed)
    setSecret(makeSecret())
  }
  return (
    <Act label="Rotate secret" scope={scope} question={`Rotate the secret of ${name}?`} notNow={notNow} run={rotate}>
      <p>A new secret is created and shown once. The old one still signs for a day and is then deleted.</p>
    </Act>
  )
}

const ReplaceCredentials = ({ endpoint: { name, credentialNames }, notNow, onDone }: OfRunTimeProps) => {
  const [typed, setTyped] = useState<Credentials>({})
  const replace = async (reason: string) => {
    const body = { reason, ...givenCredentials(typed) }
    onDone("Replaced.", await post("/endpoints/:name/rotate", body, { params: { name } }))
    setTyped({})
  }
  return (
    <Act label="Credentials" scope={scope} question={`Replace credentials of ${name}?`} notNow={notNow} run={replace}>
      <p>What is typed here replaces what it has, for connections made from then on.</p>
      <CredentialInputs typed={typed} onChange={setTyped} held={credentialNames} />
    </Act>
  )
}

const OnOff = ({ endpoint: { name, isEnabled, revision }, notNow, onDone }: OfRunTimeProps) => {
  const of = revision === null ? {} : { revision }
  const params = { name }
  return isEnabled ? (
    <Act
      label="Disable"
      scope={scope}
      question={`Disable ${name}?`}
      notNow={notNow}
      run={(reason) =>
        post("/endpoints/:name/disable", { reason, ...of }, { params }).then((now) => onDone("Disabled.", now))
      }
    >
      <p>Nothing is sent to it. Its events are kept and sent when it is enabled again.</p>
    </Act>
  ) : (
    <Act
      label="Enable"
      kind="main"
      scope={scope}
      question={`Enable ${name}?`}
      notNow={notNow}
      run={(reason) =>
        post("/endpoints/:name/enable", { reason, ...of }, { params }).then((now) => onDone("Enabled.", now))
      }
    >
      <p>It gets what it missed, up to thirty days, and then new events.</p>
    </Act>
  )
}
