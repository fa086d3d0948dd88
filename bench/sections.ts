import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Replaces a section of the document, or appends it if there is none with that heading. A section extends from its level-2 heading to the
 * next; text before the first heading is kept.
 */
export function replaceSection(document: string, heading: string, body: string): string {
  const section = `## ${heading}\n\n${body.trim()}\n`
  const parts = document.split(/^(?=## )/m)
  const place = parts.findIndex((part) => part.startsWith(`## ${heading}\n`))
  if (place < 0) return `${document.trimEnd()}\n\n${section}`
  const last = place === parts.length - 1
  return parts.with(place, last ? section : `${section}\n`).join('')
}

/** Writes a section into the file in place. */
export function writeSection(file: string, heading: string, body: string): void {
  writeFileSync(file, replaceSection(readFileSync(file, 'utf8'), heading, body))
}
