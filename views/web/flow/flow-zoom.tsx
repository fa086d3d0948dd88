import { Icon } from '../ui/icon.tsx'
import { zoomed } from './time-window.ts'
import type { FlowView } from './use-flow-view.ts'

/** How much of the time one step of zooming in leaves. */
export const ZOOM = 0.6

/** Zooms around a time, or else around the selection or the middle. */
export function zoomBy(view: FlowView, factor: number, around?: number): void {
  const shown = shownOf(view)
  const at = view.selected?.at ?? Number.NaN
  const middle = at >= shown.from && at <= shown.to ? at : (shown.from + shown.to) / 2
  view.setWindow(zoomed(view.fit, shown, factor, around ?? middle))
}

/** The time that is drawn. */
export const shownOf = ({ window, logs }: FlowView) => window ?? { from: logs[0]?.at ?? 0, to: logs.at(-1)?.at ?? 0 }

/** Buttons for what the wheel, the mouse and the keys do as well. */
export const FlowZoom = ({ view }: { readonly view: FlowView }) => (
  <div class="flow-corner">
    <button type="button" class="button icon small" title="Zoom out (-)" onClick={() => zoomBy(view, 1 / ZOOM)}>
      <Icon name="minus" />
    </button>
    <button type="button" class="button icon small" title="Zoom in (+)" onClick={() => zoomBy(view, ZOOM)}>
      <Icon name="plus" />
    </button>
    <button
      type="button"
      class="button small"
      title="Show the whole time (0)"
      disabled={view.window === undefined}
      onClick={() => view.setWindow(undefined)}
    >
      Fit
    </button>
  </div>
)
