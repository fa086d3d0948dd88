/** Stands where something is to be shown that no server has answered yet. */
export const NoAnswer = () => (
  <p class="empty muted grow" role="status">
    No answer from the server yet. This loads by itself once there is one.
  </p>
)

/** A loading indicator above the content; it takes up the same room when idle. */
export const Busy = ({ on }: { readonly on: boolean }) => <div class={on ? 'busy' : 'idle'} />
