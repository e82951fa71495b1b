/** Which role the code runs as: the label `role` in metrics, the field `role` in logs, the name on the bus. */
import { Context } from "effect"

export const Role = Context.Reference<string>("starling/runtime/Role", { defaultValue: () => "fleet" })
