/** Preferences in this browser; if storage is unavailable, they last until the page is closed. */
const memory = new Map<string, string | undefined>()

const nameOf = (name: string): string => `sluice.${name}`

export function kept(name: string): string | undefined {
  try {
    return localStorage.getItem(nameOf(name)) ?? undefined
  } catch {
    return memory.get(name)
  }
}

export function keep(name: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(nameOf(name))
    else localStorage.setItem(nameOf(name), value)
  } catch {
    memory.set(name, value)
  }
}
