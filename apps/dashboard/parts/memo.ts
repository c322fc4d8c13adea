/** Renders a component again only when a prop changes. Preact has this only in `preact/compat`. */
import { Component, type ComponentType, h } from 'preact';

export function memo<Props extends object>(inner: ComponentType<Props>): ComponentType<Props> {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      const names = new Set([...Object.keys(next), ...Object.keys(this.props)]);
      const [one, other] = [new Map(Object.entries(next)), new Map(Object.entries(this.props))];
      return [...names].some((name) => one.get(name) !== other.get(name));
    }
    override render() {
      return h(inner, this.props);
    }
  };
}
