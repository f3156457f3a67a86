package mock

type modelEntry struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

type modelList struct {
	Object string       `json:"object"`
	Data   []modelEntry `json:"data"`
}

func entry(name string) modelEntry { return modelEntry{name, "model", born, "throng"} }

// listModels answers GET /v1/models.
func (x *modelExchange) listModels() (*reply, *apiError) {
	list := modelList{Object: "list"}
	for _, name := range x.model.cfg.Models {
		list.Data = append(list.Data, entry(name))
	}
	return &reply{body: encode(list)}, nil
}

// oneModel answers GET /v1/models/{id}.
func (x *modelExchange) oneModel(name string) (*reply, *apiError) {
	if no := x.model.knows(name); no != nil {
		return nil, no
	}
	return &reply{body: encode(entry(name))}, nil
}
