package wire

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/engine/service"
)

// pricesName is the user's table of prices in the data folder. It goes before the one that Throng brings along.
const pricesName = "prices.json"

// Prices are what models cost: the user's table over the one that comes along. Both are in the format of LiteLLM's
// model_prices_and_context_window.json.
func Prices(data string) (service.Prices, error) {
	prices, err := service.ReadPrices(assets.Prices())
	if err != nil {
		return nil, fmt.Errorf("the prices that come along: %w", err)
	}
	path := filepath.Join(data, pricesName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return prices, nil
	}
	var own service.Prices
	if err == nil {
		own, err = service.ReadPrices(text)
	}
	if err != nil {
		return nil, fmt.Errorf("the prices in %s: %w; mend or remove the file", path, err)
	}
	maps.Copy(prices, own)
	return prices, nil
}
