/** Loaded into a Sluice process before it starts (`--import`): sets its clock back by DAYS_BACK days, 1 by default. */
const BACK_MS = Number(process.env['DAYS_BACK'] ?? 1) * 86_400_000
const now = Date.now

Date.now = () => now() - BACK_MS
