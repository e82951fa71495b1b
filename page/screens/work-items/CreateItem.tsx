/** A new work item, and a project for it where there is none. */
import { type FormEvent, useState } from "react"
import { navigate } from "../../address.ts"
import { bases, pipeline } from "../../api/apis.ts"
import { call, Refused } from "../../api/client.ts"
import { useMay } from "../../api/signed-in.ts"
import { Button } from "../../design/Button.tsx"
import { Drawer } from "../../design/Drawer.tsx"
import { Field, type FieldControl } from "../../design/Field.tsx"
import { notNowIf } from "../../design/not-now.ts"
import { Fault } from "../../design/Said.tsx"

interface CreateProps {
  readonly projects: ReadonlyArray<{ readonly id: string; readonly displayName: string }>
  readonly onClose: () => void
}

interface Wish {
  readonly title: string
  readonly instructions: string
  readonly project: string
  /** Of a project that does not exist yet. */
  readonly repository: string
  readonly agent: string
}

export const CreateItem = ({ projects, onClose }: CreateProps) => {
  const mayOperate = useMay("pipeline:operate")
  const [wish, setWish] = useState<Wish>({
    title: "",
    instructions: "",
    project: projects[0]?.id ?? "",
    repository: "",
    agent: ""
  })
  const [refused, setRefused] = useState<Refused>()
  const isNew = !projects.some(({ id }) => id === wish.project)
  const notNow = notNowIf(
    [wish.title.trim() === "", "Say what is to be done first."],
    [wish.project === "", "Choose a project first."],
    [isNew && !mayOperate, "Your token cannot create projects: choose an existing one."],
    [isNew && wish.repository === "", "A new project needs a repository."]
  )
  const set = (name: keyof Wish) => (value: string) => setWish((before) => ({ ...before, [name]: value }))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create(wish, isNew).then(
      ({ id }) => navigate(`/work-items/${id}`),
      (error: unknown) => {
        if (error instanceof Refused) setRefused(error)
      }
    )
  }
  const faults = refused?.refusal.faults ?? {}
  return (
    <Drawer title="New work item" onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <Field label="What is to be done" hint="One line; the agent sees it." fault={faults["title"]}>
          {(given) => <Line given={given} value={wish.title} charactersMax={300} onChange={set("title")} />}
        </Field>
        <Field label="Instructions" hint="What the agent gets besides the title." fault={faults["instructions"]}>
          {(given) => (
            <textarea
              {...given}
              rows={5}
              maxLength={8_000}
              value={wish.instructions}
              onChange={({ target }) => set("instructions")(target.value)}
            />
          )}
        </Field>
        <ProjectField
          projects={projects}
          project={wish.project}
          isNew={isNew}
          fault={faults["projectId"]}
          onChange={set("project")}
        />
        {isNew ? (
          <Field label="Repository" hint={repositoryHint(mayOperate)} fault={faults["repositoryUrl"]}>
            {(given) => (
              <Line given={given} value={wish.repository} example={repository} onChange={set("repository")} />
            )}
          </Field>
        ) : null}
        <Field label="Agent" hint="A kind, or a class of agents; the configured one if empty." fault={faults["agent"]}>
          {(given) => <Line given={given} value={wish.agent} example="coder" onChange={set("agent")} />}
        </Field>
        {refused === undefined ? null : <Fault refused={refused} />}
        <Button kind="main" type="submit" notNow={notNow}>
          Create
        </Button>
      </form>
    </Drawer>
  )
}

const repository = "https://git.example/garden"

const repositoryHint = (mayOperate: boolean) =>
  mayOperate ? "Where git fetches it, without a password." : "Your token cannot create projects."

const create = async ({ title, instructions, project, repository, agent }: Wish, isNew: boolean) => {
  if (isNew) {
    await call("PUT", `${bases.pipeline}/projects/${encodeURIComponent(project)}`, {
      body: { displayName: project, repositoryUrl: repository }
    })
  }
  return pipeline.post("/workitems", {
    title,
    projectId: project,
    ...(instructions === "" ? {} : { instructions }),
    ...(agent === "" ? {} : { agent })
  })
}

interface LineProps {
  readonly given: FieldControl
  readonly value: string
  readonly example?: string
  readonly charactersMax?: number
  readonly onChange: (value: string) => void
}

const Line = ({ given, value, example, charactersMax, onChange }: LineProps) => (
  <input
    {...given}
    placeholder={example}
    maxLength={charactersMax}
    value={value}
    onChange={({ target }) => onChange(target.value)}
  />
)

interface ProjectProps extends Pick<CreateProps, "projects"> {
  readonly project: string
  readonly isNew: boolean
  readonly fault: string | undefined
  readonly onChange: (project: string) => void
}

const ProjectField = ({ projects, project, isNew, fault, onChange }: ProjectProps) => (
  <Field label="Project" hint={isNew ? "A new one, created with the item." : "It exists."} fault={fault}>
    {(given) => (
      <>
        <input
          {...given}
          list="projects"
          autoComplete="off"
          value={project}
          onChange={({ target }) => onChange(target.value)}
        />
        <datalist id="projects">
          {projects.map(({ id, displayName }) => (
            <option key={id} value={id}>
              {displayName}
            </option>
          ))}
        </datalist>
      </>
    )}
  </Field>
)
