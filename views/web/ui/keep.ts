/** Preferences in this browser; those that its storage does not take last until the page is closed. */
const memory = new Map<string, string | undefined>()

const nameOf = (name: string): string => `sluice.${name}`

export function kept(name: string): string | undefined {
  if (memory.has(name)) return memory.get(name)
  try {
    return localStorage.getItem(nameOf(name)) ?? undefined
  } catch {
    return undefined
  }
}

export function keep(name: string, value: string | undefined): void {
  memory.delete(name)
  try {
    if (value === undefined) localStorage.removeItem(nameOf(name))
    else localStorage.setItem(nameOf(name), value)
  } catch {
    memory.set(name, value)
  }
}
