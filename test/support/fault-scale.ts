import { setTimeout as delay } from 'node:timers/promises'

/** Scales the duration of every fault: 1 for the short form, more for the full one. */
export const FAULT_SCALE = Number(process.env['FAULT_SCALE'] ?? 1)

/** Waits for a fault's duration, given in milliseconds for the short form. */
export const lasting = (ms: number): Promise<void> => delay(ms * FAULT_SCALE)
