export const FlowPage = ({ correlationKey }: { readonly correlationKey: string }) => (
  <div class="page">
    <h1 class="isolate">{correlationKey}</h1>
  </div>
)
