import { NODE_CLIENTS, NODE_TOOLCHAIN } from '../clients/clients.ts'
import { describeClients } from '../clients/harness.ts'

describeClients('clients that the registry of npm has', NODE_CLIENTS, NODE_TOOLCHAIN)
