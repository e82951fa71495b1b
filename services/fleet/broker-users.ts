/** Who a broker of one machine knows. Apart from the home, for it loads the topology, which few commands need. */
export { authorization } from "./nats-server/server-config.ts"
export { keeperUser, machineUsers, operatorUser, serviceUser } from "./nats-server/users.ts"
