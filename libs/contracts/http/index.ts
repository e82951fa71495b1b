/** What the declarations of HTTP APIs have in common. Apart from `#contracts`: who declares no route loads no HttpApi. */
export {
  BearerToken,
  BodyExample,
  bodyOf,
  DescriptionGroup,
  NeededScope,
  type Refusal,
  refusalsFrom,
  refusalsOf,
  described
} from "./declaration.ts"
