import { BASE } from './base.ts'
import { createStore } from './store.ts'

type Theme = 'system' | 'light' | 'dark'

export const THEMES: readonly (readonly [Theme, string])[] = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

const root = document.documentElement
const YEAR_S = 365 * 24 * 3600

export const theme = createStore<Theme>((root.dataset['theme'] as Theme | undefined) ?? 'system')

/** Stored in a cookie, so that the server's response already has the theme and nothing flashes. */
export function setTheme(next: Theme): void {
  theme.set(next)
  if (next === 'system') delete root.dataset['theme']
  else root.dataset['theme'] = next
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing on plain http
  document.cookie = `sluice_theme=${next}; path=${BASE}; max-age=${next === 'system' ? 0 : YEAR_S}; samesite=lax`
}
