/** Why a change of an endpoint was not made. None of them holds a secret. */
import { Schema } from "effect"
import { Fault } from "#base"

/** The input is faulty; lists all faults at once. */
export class InvalidEndpoint extends Schema.TaggedError<InvalidEndpoint>()("InvalidEndpoint", {
  faults: Schema.Array(Fault)
}) {
  override get message() {
    return this.faults.map(({ path, message }) => `${path}: ${message}`).join("; ")
  }
}

export class NoSuchEndpoint extends Schema.TaggedError<NoSuchEndpoint>()("NoSuchEndpoint", { name: Schema.String }) {
  override get message() {
    return `no endpoint ${this.name} was made at run time`
  }
}

/** An endpoint of this name exists and differs from the one to be created. */
export class EndpointExists extends Schema.TaggedError<EndpointExists>()("EndpointExists", { name: Schema.String }) {
  override get message() {
    return `there is an endpoint ${this.name} already`
  }
}

/** The endpoint comes from the configuration file: it can only be changed there. */
export class EndpointIsConfigured extends Schema.TaggedError<EndpointIsConfigured>()("EndpointIsConfigured", {
  name: Schema.String
}) {
  override get message() {
    return `the endpoint ${this.name} is defined in the configuration file; change it there`
  }
}

/** An endpoint of this name was removed, and its deliveries are still being archived. */
export class EndpointIsLeaving extends Schema.TaggedError<EndpointIsLeaving>()("EndpointIsLeaving", {
  name: Schema.String
}) {
  override get message() {
    return `the endpoint ${this.name} was removed and a dispatcher has yet to put its deliveries away`
  }
}

/** Another change came first. */
export class EndpointWasChanged extends Schema.TaggedError<EndpointWasChanged>()("EndpointWasChanged", {
  name: Schema.String,
  revision: Schema.Int
}) {
  override get message() {
    return `the endpoint ${this.name} was changed by somebody else and is at revision ${this.revision} now`
  }
}

export class TooManyEndpoints extends Schema.TaggedError<TooManyEndpoints>()("TooManyEndpoints", {
  endpointsMax: Schema.Int
}) {
  override get message() {
    return `there are ${this.endpointsMax} endpoints, and no more can be made`
  }
}

/** Why a change was refused, or is not yet acted on. */
export type EndpointFailure =
  | InvalidEndpoint
  | NoSuchEndpoint
  | EndpointExists
  | EndpointIsConfigured
  | EndpointIsLeaving
  | EndpointWasChanged
  | TooManyEndpoints
  | NotActedOn

/** The change is stored, but a live dispatcher has not confirmed in time that it acts on it. */
export class NotActedOn extends Schema.TaggedError<NotActedOn>()("NotActedOn", {
  dispatchers: Schema.Array(Schema.String),
  waitedMs: Schema.Int
}) {
  override get message() {
    return `after ${this.waitedMs} ms ${this.dispatchers.length} dispatchers do not act on the change yet: ask again`
  }
}
