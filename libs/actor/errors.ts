/** Why a command was not carried out, by what its sender does next. */
import { Schema } from "effect"

/** The entity's state does not allow it; sending it again changes nothing. `state`: what it is in. */
export class Refusal extends Schema.TaggedError<Refusal>()("Refusal", {
  state: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.reason} (${this.state})`
  }
}

/** There is no such entity, or none any more. */
export class EntityNotFound extends Schema.TaggedError<EntityNotFound>()("EntityNotFound", {
  entity: Schema.String,
  id: Schema.String
}) {
  override get message() {
    return `no ${this.entity} ${this.id}`
  }
}

/** Too many want the same entity at once, or lost to each other too often; it may be tried again. */
export class EntityBusy extends Schema.TaggedError<EntityBusy>()("EntityBusy", {
  entity: Schema.String,
  id: Schema.String
}) {
  override get message() {
    return `${this.entity} ${this.id} is busy`
  }
}

/** Another entity, whose standing the command went by, has moved on; look again and decide anew. */
export class GroundsChanged extends Schema.TaggedError<GroundsChanged>()("GroundsChanged", {
  entity: Schema.String,
  id: Schema.String
}) {
  override get message() {
    return `what was true when ${this.entity} ${this.id} was to be changed is so no longer`
  }
}
