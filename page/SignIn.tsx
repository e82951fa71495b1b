import { type FormEvent, useEffect, useRef, useState } from "react"
import { Refused } from "./api/client.ts"
import { type Session, signIn } from "./api/session.ts"
import { wordsOfRefusal } from "./arriving.ts"
import { Button } from "./design/Button.tsx"
import { Field } from "./design/Field.tsx"

/** The one-time code in the address's fragment, which no server sees; it leaves the address at once. */
export const takeCode = (): string | undefined => {
  // Whatever stands there: a broken one is refused, and said to be broken.
  const code = /^#code=(.*)$/u.exec(location.hash)?.[1]
  if (code !== undefined) history.replaceState(null, "", "#/")
  return code
}

interface SignInProps {
  readonly onSignedIn: (session: Session) => void
  /** Why nobody is signed in, where there is more to say than that. */
  readonly said: ReturnType<typeof wordsOfRefusal> | undefined
}

/** For who has a token and no code. */
export const SignIn = ({ onSignedIn, said: before }: SignInProps) => {
  const [token, setToken] = useState("")
  const form = useRef<HTMLFormElement>(null)
  // There is nothing else to do here.
  useEffect(() => form.current?.querySelector("input")?.focus(), [])
  const [refusal, setRefusal] = useState<ReturnType<typeof wordsOfRefusal>>()
  const said = refusal ?? before
  const submit = (event: FormEvent) => {
    event.preventDefault()
    signIn({ token }).then(onSignedIn, (error: unknown) => {
      if (error instanceof Refused) setRefusal(wordsOfRefusal(error, "token"))
    })
  }
  return (
    <main className="sign-in">
      <form ref={form} className="card" onSubmit={submit}>
        <h1>Starling</h1>
        {said === undefined ? null : (
          <section className="said bad" role="alert">
            <h2>{said.title}</h2>
            <p>{said.advice}</p>
          </section>
        )}
        <p>
          The console shows what the fleet sends, sells and speaks. On your own machine, <code>./starling console</code>{" "}
          prints an address that signs you in.
        </p>
        <Field label="Token" hint="Created with ./starling token make; its scopes decide what you can see and do.">
          {(given) => (
            <input
              {...given}
              type="password"
              autoComplete="off"
              value={token}
              onChange={({ target }) => setToken(target.value)}
            />
          )}
        </Field>
        <Button kind="main" type="submit" notNow={token === "" ? "Enter a token first." : undefined}>
          Sign in
        </Button>
      </form>
    </main>
  )
}
