/** The line above what is being read; its room stays where nothing is. */
export const Busy = ({ on }: { readonly on: boolean }) => <div class="busy-line">{on && <div class="busy" />}</div>
