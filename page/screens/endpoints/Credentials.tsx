/** Texts by which an endpoint's receiver knows us, and we know it: they go in here, and are never shown again. */
import { Field } from "../../design/Field.tsx"
import { type CredentialName, credentialFields, type Credentials } from "./endpoint-form.ts"

interface CredentialInputsProps {
  readonly typed: Credentials
  readonly onChange: (typed: Credentials) => void
  /** The names of those that it has. */
  readonly held?: ReadonlyArray<string>
  readonly faultOf?: (name: CredentialName) => string | undefined
}

export const CredentialInputs = ({ typed, onChange, held = [], faultOf }: CredentialInputsProps) => (
  <details>
    <summary>Certificates and keys</summary>
    <div className="form">
      {credentialFields.map(({ name, label, hint }) => (
        <Field
          key={name}
          label={label}
          hint={held.includes(name) ? `It has one. ${hint}` : hint}
          fault={faultOf?.(name)}
        >
          {(given) => (
            <textarea
              {...given}
              rows={2}
              autoComplete="off"
              spellCheck={false}
              value={typed[name] ?? ""}
              onChange={({ target }) => onChange({ ...typed, [name]: target.value })}
            />
          )}
        </Field>
      ))}
    </div>
  </details>
)
