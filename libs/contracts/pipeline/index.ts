/** What the pipeline's parts say to each other. */
export * from "./work-item-commands.ts"
export * from "./work-item-reports.ts"
export * from "./work-item-settings.ts"
export * from "./work-item-state.ts"
export * from "./work-item-facts.ts"
export * from "./work-item-summary.ts"
