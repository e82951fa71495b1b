/** The sections of the configuration that belong to no product: every role reads them. */
import { Context } from "effect"
import type { PlatformSections } from "#base"

export class Platform extends Context.Service<Platform, PlatformSections>()("starling/runtime/Platform") {}
