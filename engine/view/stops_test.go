package view

import (
	"reflect"
	"testing"
)

func TestNewStops(t *testing.T) {
	got := NewStops(map[string]int{"left": 2, "stayed home": 9, "browsed": 2, "fell asleep": 1}, 3)
	if want := []Stop{{"stayed home", 9}, {"browsed", 2}, {"left", 2}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
