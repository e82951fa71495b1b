/** How an API describes itself: the parts that its OpenAPI document and its reference page are made of. */
export { descriptionRoute } from "./description-route.ts"
export { componentsOf, fieldsOf, inOrder, type JsonObject, propertiesOf, refTo } from "./json-schema.ts"
export { pathParameters, pathsOf, queryParameters, templateOf } from "./paths.ts"
export { commonErrorCodes, type ErrorCode, jsonContent, refusalsOf } from "./refusals.ts"
export { anchorOf, fieldTable, type LongList, queryTable, table, typeOf } from "./tables.ts"
