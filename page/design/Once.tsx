import { CopyButton } from "./Button.tsx"

/** A secret that is shown this once. */
export const Once = ({ what, secret }: { readonly what: string; readonly secret: string }) => (
  <section className="once" role="status" aria-label={what}>
    <h3>{what}: shown this once</h3>
    <code>{secret}</code>
    <div>
      <CopyButton text={secret} what={what} />
    </div>
    <p>Save it now. It cannot be shown again, not even to an owner.</p>
  </section>
)
