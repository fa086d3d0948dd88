/** Loaded into a Sluice process before it starts (`--import`): sets its clock back by a day. */
const DAY_MS = 86_400_000
const now = Date.now

Date.now = () => now() - DAY_MS
