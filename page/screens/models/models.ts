import { models, type ModelsAnswer } from "../../api/apis.ts"
import { useResource } from "../../api/resource.ts"

export type Model = ModelsAnswer<"/v1/models">["data"][number]

/** The models that this fleet sells. */
export const useModels = () =>
  useResource("models", async (signal) => (await models.get("/v1/models", { signal })).data)
