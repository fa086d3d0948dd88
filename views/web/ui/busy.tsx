/** A loading indicator above the content; it takes up the same room when idle. */
export const Busy = ({ on }: { readonly on: boolean }) => <div class={on ? 'busy' : 'idle'} />
