export {
  type Client,
  type ClientOptions,
  createClient,
  type EventInput,
  type LogInput,
  type Stats,
} from './client.ts'
export type { ApplicationLog, EventLog, Level } from './entries.ts'
export type { Dropped, Refused } from './reports.ts'
export type { Retry } from './sender.ts'
