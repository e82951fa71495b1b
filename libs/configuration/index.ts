/** The complete configuration: the sections of all products joined, read, checked and explained. */
export {
  Configuration,
  configurationInput,
  ConfigurationOrigin,
  type ConfigurationSource,
  overlay
} from "./Configuration.ts"
export {
  ConfigurationFile,
  decodeConfiguration,
  environmentKeys,
  environmentValue,
  readableConfiguration
} from "./sections.ts"
export { effectiveSettings, settingSources } from "./effective-settings.ts"
export { entriesOf, inFileOrder, isJson, type Json, unreadable } from "./readable-parts.ts"
export { settingsPage } from "./settings-page.ts"
