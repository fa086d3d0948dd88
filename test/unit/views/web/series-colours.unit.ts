import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const TOKENS = readFileSync(join(import.meta.dirname, '../../../../views/web/styles/tokens.css'), 'utf8')

/** The colours of a token, light and dark. */
function coloursOf(token: string): readonly [light: string, dark: string] {
  const [, light = '', dark = ''] = new RegExp(`--${token}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(TOKENS) ?? []
  return [light, dark]
}

type Triple = readonly [number, number, number]
const each = (of: (index: number) => number): Triple => [of(0), of(1), of(2)]
const times = (matrix: readonly Triple[], [a, b, c]: Triple): Triple =>
  each((row) => {
    const [x, y, z] = matrix[row] as Triple
    return x * a + y * b + z * c
  })

/** Linear RGB. */
const linear = (colour: string): Triple =>
  each((index) => {
    const part = Number.parseInt(colour.slice(1 + 2 * index, 3 + 2 * index), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })

/** Colours as eyes see them: of Machado, Oliveira and Fernandes (2009), at full severity. */
const EYES: Readonly<Record<string, readonly Triple[]>> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

/** OKLab, in which distances are those that people see. */
const oklab = (rgb: Triple): Triple => {
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    rgb,
  ).map(Math.cbrt) as unknown as Triple
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cones,
  )
}

const distance = (one: string, other: string, eyes: readonly Triple[]): number => {
  const [a, b] = [one, other].map((colour) => {
    const seen = times(eyes, linear(colour))
    return oklab(each((index) => Math.max(0, Math.min(1, seen[index] as number))))
  }) as [Triple, Triple]
  return Math.hypot(...each((index) => (a[index] as number) - (b[index] as number)))
}

const luminance = (colour: string): number => {
  const [red, green, blue] = linear(colour)
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
const contrast = (one: string, other: string): number => {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (high + 0.05) / (low + 0.05)
}

/** The OKLab distance below which two thin lines are easily taken for each other; the least of neighbours in palettes that are known as safe. */
const APART = 0.1

describe.each([
  ['light', 0],
  ['dark', 1],
] as const)('the colours of series, %s', (_theme, index) => {
  const colours = [1, 2, 3, 4, 5].map((place) => coloursOf(`series-${place}`)[index])

  test('stand out from the panel as marks have to', () => {
    const panel = coloursOf('panel')[index]
    for (const colour of colours) expect([colour, contrast(colour, panel) >= 3]).toEqual([colour, true])
  })

  test.each(Object.entries(EYES))('are told apart with %s', (_name, eyes) => {
    const close = colours.flatMap((one, at) =>
      colours.slice(at + 1).flatMap((other) => (distance(one, other, eyes) < APART ? [`${one} ${other}`] : [])),
    )
    expect(close).toEqual([])
  })
})
