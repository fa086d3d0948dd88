import { setTimeout as delay } from 'node:timers/promises'

/** Stretches every fault: 1 for the short form, more for the full one. */
export const FAULT_SCALE = Number(process.env['FAULT_SCALE'] ?? 1)

/** The length of a fault: so many milliseconds in the short form. */
export const lasting = (ms: number): Promise<void> => delay(ms * FAULT_SCALE)
