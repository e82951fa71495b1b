import { type FormEvent, useState } from "react"
import { Refused } from "./api/client.ts"
import { type Session, signIn } from "./api/session.ts"
import { Button } from "./design/Button.tsx"
import { Field } from "./design/Field.tsx"
import { Fault } from "./design/Said.tsx"

/** The one-time code in the address's fragment, which no server sees; it leaves the address at once. */
export const takeCode = (): string | undefined => {
  const code = /^#code=([\w-]+)$/u.exec(location.hash)?.[1]
  if (code !== undefined) history.replaceState(null, "", "#/")
  return code
}

interface SignInProps {
  readonly onSignedIn: (session: Session) => void
  readonly refused: Refused | undefined
}

/** For who has a token and no code. */
export const SignIn = ({ onSignedIn, refused: before }: SignInProps) => {
  const [token, setToken] = useState("")
  const [refused, setRefused] = useState(before)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    signIn({ token }).then(onSignedIn, (error: unknown) => {
      if (error instanceof Refused) setRefused(error)
    })
  }
  return (
    <main className="sign-in">
      <form className="card" onSubmit={submit}>
        <h1>Starling</h1>
        <p>
          The console shows what the fleet sends, sells and speaks. On your own machine, <code>./starling console</code>{" "}
          prints an address that signs you in.
        </p>
        <Field label="Token" hint="One of ./starling token make; its scopes say what you may see and do.">
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
        {refused === undefined ? null : <Fault refused={refused} />}
        <Button kind="main" type="submit" disabled={token === ""}>
          Sign in
        </Button>
      </form>
    </main>
  )
}
